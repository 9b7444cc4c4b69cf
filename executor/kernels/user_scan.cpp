#include "executor/kernels/user_scan.hpp"

#include <algorithm>
#include <utility>

#include "common/cancellation.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kManyLines = 16;
constexpr std::int64_t kScanSegments = 64;
constexpr std::int64_t kChunk = kScanSegments * 64;  // cells of a line
constexpr std::int64_t kFewestCells = kScanSegments * 2;

std::size_t bytes_of_values(std::int64_t count, std::int64_t size) { return static_cast<std::size_t>(count * size); }

}  // namespace

UserScan::UserScan(const LevelTable& level, const UserFold& fold, const ScanLines& lines, bool forward, bool first)
    : level_(level),
      fold_(fold),
      lines_(lines),
      forward_(forward),
      first_(first),
      size_(static_cast<std::int64_t>(fold.element_size())),
      combiner_(level, fold),
      steps_(bytes_of_values(kChunk, size_)),
      sums_(bytes_of_values(kChunk, size_)),
      results_(bytes_of_values(kChunk, size_)),
      old_(bytes_of_values(kChunk, size_)),
      held_(bytes_of_values(kScanLanes, size_)),
      other_(bytes_of_values(kScanLanes, size_)),
      next_(bytes_of_values(kScanLanes, size_)) {}

void UserScan::run() {
  for_each_group(lines_, [&](const std::byte* source, std::byte* output, std::int64_t lanes) {
    if (lanes >= kManyLines) return scan_lanes(source, output, lanes);
    for (std::int64_t n = 0; n < lanes; ++n)
      scan_line(source + n * lines_.lane_source * size_, output + n * lines_.lane_output * size_);
  });
}

void UserScan::move(MatrixView to, ConstMatrixView from, std::int64_t rows, std::int64_t columns) const {
  level_.of(fold_.compute()).move[slot_of(fold_.compute())](to, from, rows, columns);
}

// to[i] = what has been aggregated, and then the next value; backward the next value comes before it. `to` is neither.
void UserScan::take(void* to, const void* so_far, const void* next, std::int64_t count) {
  if (forward_) combiner_.combine(to, so_far, {next, 1}, count);
  else combiner_.combine(to, next, {so_far, 1}, count);
}

// ---- Lines side by side

void UserScan::scan_lanes(const std::byte* source, std::byte* output, std::int64_t lanes) {
  auto* held = held_.data();
  auto* other = other_.data();
  move({held, 0, 1}, {fold_.initial().data(), 0, 0}, 1, lanes);
  std::int64_t taken = 0;
  for (std::int64_t n = 0; n < lines_.results; ++n) {
    for (const auto wanted = lines_.taken_by(n); taken < wanted; ++taken) {
      const auto* next = source + taken * lines_.step_source * size_;
      if (lines_.lane_source != 1) {
        move({next_.data(), 0, 1}, {next, 0, lines_.lane_source}, 1, lanes);
        next = next_.data();
      }
      take(other, held, next, lanes);
      std::swap(held, other);
    }
    put(output + n * lines_.step_output * size_, lines_.lane_output, held, 1, lanes);
  }
}

// Writes results, or combines them with those that are there. A step of 0: all are equal.
void UserScan::put(std::byte* to, std::int64_t stride, const void* values, std::int64_t step, std::int64_t count) {
  if (first_) return move({to, 0, stride}, {values, 0, step}, 1, count);
  move({old_.data(), 0, 1}, {to, 0, stride}, 1, count);
  combiner_.combine(old_.data(), old_.data(), {values, step}, count);
  move({to, 0, stride}, {old_.data(), 0, 1}, 1, count);
}

// ---- One line

void UserScan::scan_line(const std::byte* source, std::byte* output) {
  const auto begin = lines_.taken_first;
  const auto to = [&](std::int64_t n) { return output + n * lines_.step_output * size_; };
  const auto put_equal = [&](std::int64_t from, std::int64_t end, const void* value) {
    for (; from < end; from += kChunk) put(to(from), lines_.step_output, value, 0, std::min(kChunk, end - from));
  };
  std::copy(fold_.initial().begin(), fold_.initial().end(), held_.data());
  // Result n has begin + n cells.
  const auto none = std::clamp<std::int64_t>(1 - begin, 0, lines_.results);
  put_equal(0, none, held_.data());
  const auto all = lines_.taken_by(lines_.results - 1);
  for (std::int64_t taken = 0; taken < all; taken += kChunk) {
    poll_cancellation();
    const auto cells = std::min(kChunk, all - taken);
    scan_chunk(source + taken * lines_.step_source * size_, cells);
    const auto from = std::clamp<std::int64_t>(taken + 1 - begin, none, lines_.results);
    const auto end = std::clamp<std::int64_t>(taken + cells + 1 - begin, none, lines_.results);
    if (from < end) put(to(from), lines_.step_output, at(results_, from + begin - taken - 1), 1, end - from);
  }
  put_equal(std::max(none, std::min(lines_.cells + 1 - begin, lines_.results)), lines_.results, held_.data());
}

// The results of cells that follow those whose aggregate is held, which then is that of all of them.
void UserScan::scan_chunk(const std::byte* source, std::int64_t cells) {
  const auto step = lines_.step_source;
  std::int64_t done = 0;
  if (cells >= kFewestCells) {
    const auto length = cells / kScanSegments;
    const auto row = [&](const Scratch& of, std::int64_t n) { return at(of, n * kScanSegments); };
    move({steps_.data(), kScanSegments, 1}, {source, step, step * length}, length, kScanSegments);
    std::copy_n(steps_.data(), kScanSegments * size_, sums_.data());
    for (std::int64_t n = 1; n < length; ++n) take(row(sums_, n), row(sums_, n - 1), row(steps_, n), kScanSegments);
    auto* before = next_.data();
    for (std::int64_t n = 0; n < kScanSegments; ++n) {
      std::copy_n(held_.data(), size_, before + n * size_);
      take(other_.data(), held_.data(), row(sums_, length - 1) + n * size_, 1);
      std::copy_n(other_.data(), size_, held_.data());
    }
    for (std::int64_t n = 0; n < length; ++n) take(row(steps_, n), before, row(sums_, n), kScanSegments);
    move({results_.data(), 1, length}, {steps_.data(), kScanSegments, 1}, length, kScanSegments);
    done = length * kScanSegments;
  }
  for (; done < cells; ++done) {
    move({next_.data(), 0, 1}, {source + done * step * size_, 0, 1}, 1, 1);
    take(other_.data(), held_.data(), next_.data(), 1);
    std::copy_n(other_.data(), size_, held_.data());
    std::copy_n(other_.data(), size_, at(results_, done));
  }
}

}  // namespace eindb
