#include "executor/kernels/user_recurrence.hpp"

#include <algorithm>
#include <memory>

#include "common/cancellation.hpp"
#include "common/check.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLinesSideBySide = 512;
constexpr std::int64_t kManyRecurringLines = 16;
constexpr std::int64_t kLineSegments = 64;
constexpr std::int64_t kLongestSegment = 64;
constexpr std::int64_t kShortestSegment = 4;
constexpr std::int64_t kCellsOfChunk = kLineSegments * kLongestSegment;
constexpr std::int64_t kStepsOfPoll = 256;

}  // namespace

RecurrenceFolds::RecurrenceFolds(const UserAggregatePtr& aggregate, DType compute)
    : join(std::make_shared<const UserAggregate>(recurrence_join(*aggregate, compute)), compute),
      combine(aggregate, compute) {}

UserRecurrence::UserRecurrence(const LevelTable& level, const RecurrenceFolds& folds)
    : level_(level),
      type_(folds.combine.compute()),
      size_(static_cast<std::int64_t>(folds.combine.element_size())),
      join_(level, folds.join),
      combine_(level, folds.combine),
      values_(static_cast<std::size_t>(kCellsOfChunk * size_)),
      factors_(static_cast<std::size_t>(kCellsOfChunk * size_)),
      held_(static_cast<std::size_t>(kCellsOfChunk * size_)),
      joined_(static_cast<std::size_t>(kCellsOfChunk * size_)),
      before_(static_cast<std::size_t>(kLinesSideBySide * size_)) {}

void UserRecurrence::run(const RecurrenceLines& lines) {
  CHECK(lines.steps > 0, "a recurrence begins with a value");
  const auto width = lines.lanes >= kManyRecurringLines ? kLinesSideBySide : std::int64_t{1};
  auto some = lines;
  for (std::int64_t lane = 0; lane < lines.lanes; lane += width) {
    some.lanes = std::min(width, lines.lanes - lane);
    some.x = lines.x + lane * lines.of_x.lane * size_;
    some.a = lines.a + lane * lines.of_a.lane * size_;
    some.h = lines.h + lane * lines.of_h.lane * size_;
    if (width > 1) run_lanes(some);
    else run_line(some);
  }
}

void UserRecurrence::move(MatrixView to, ConstMatrixView from, std::int64_t rows, std::int64_t columns) const {
  level_.of(type_).move[slot_of(type_)](to, from, rows, columns);
}

// to[i] = f(factors[i] o before[i], values[i]). `to` may be `before` or `factors`, not `values`.
void UserRecurrence::step(void* to, const void* factors, const void* before, const void* values, std::int64_t count) {
  join_.combine(joined_.data(), factors, {before, 1}, count);
  combine_.combine(to, joined_.data(), {values, 1}, count);
}

void UserRecurrence::run_lanes(const RecurrenceLines& lines) {
  const auto count = lines.lanes;
  for (std::int64_t n = 0; n < lines.steps; ++n) {
    if (n % kStepsOfPoll == 0) poll_cancellation();
    const auto t = lines.backward ? lines.steps - 1 - n : n;
    auto* values = n == 0 ? held_.data() : values_.data();
    move({values, 0, 1}, {lines.x + t * lines.of_x.along * size_, 0, lines.of_x.lane}, 1, count);
    if (n > 0) {
      const auto taken = lines.backward ? t + 1 : t;
      move({factors_.data(), 0, 1}, {lines.a + taken * lines.of_a.along * size_, 0, lines.of_a.lane}, 1, count);
      step(held_.data(), factors_.data(), held_.data(), values, count);
    }
    move({lines.h + t * lines.of_h.along * size_, 0, lines.of_h.lane}, {held_.data(), 0, 1}, 1, count);
  }
}

// The last value is kept in before_.
void UserRecurrence::run_line(const RecurrenceLines& line) {
  const auto begin = line.backward ? line.steps - 1 : 0;
  move({before_.data(), 0, 1}, {line.x + begin * line.of_x.along * size_, 0, 1}, 1, 1);
  move({line.h + begin * line.of_h.along * size_, 0, 1}, {before_.data(), 0, 1}, 1, 1);
  for (std::int64_t n = 1; n < line.steps;) {
    poll_cancellation();
    const auto length = std::min((line.steps - n) / kLineSegments, kLongestSegment);
    if (length >= kShortestSegment) {
      run_chunk(line, n, length);
      n += length * kLineSegments;
      continue;
    }
    for (; n < line.steps; ++n) {
      const auto t = line.backward ? line.steps - 1 - n : n;
      const auto taken = line.backward ? t + 1 : t;
      move({values_.data(), 0, 1}, {line.x + t * line.of_x.along * size_, 0, 1}, 1, 1);
      move({factors_.data(), 0, 1}, {line.a + taken * line.of_a.along * size_, 0, 1}, 1, 1);
      step(before_.data(), factors_.data(), before_.data(), values_.data(), 1);
      move({line.h + t * line.of_h.along * size_, 0, 1}, {before_.data(), 0, 1}, 1, 1);
    }
  }
}

// Segments of `length` steps each, from step `first` on: row n of a scratch has step n of all segments.
void UserRecurrence::run_chunk(const RecurrenceLines& line, std::int64_t first, std::int64_t length) {
  const auto sign = line.backward ? -1 : 1;
  const auto t = line.backward ? line.steps - 1 - first : first;
  const auto taken = line.backward ? t + 1 : t;
  const auto read = [&](const Scratch& to, const std::byte* from, std::int64_t along) {
    move({to.data(), kLineSegments, 1}, {from, sign * along, sign * along * length}, length, kLineSegments);
  };
  read(values_, line.x + t * line.of_x.along * size_, line.of_x.along);
  read(factors_, line.a + taken * line.of_a.along * size_, line.of_a.along);
  const auto row = [&](const Scratch& of, std::int64_t n) { return at(of, n * kLineSegments); };
  // The results of segments that begin with nothing, and the products of their factors.
  std::copy_n(values_.data(), kLineSegments * size_, held_.data());
  for (std::int64_t n = 1; n < length; ++n) {
    step(row(held_, n), row(factors_, n), row(held_, n - 1), row(values_, n), kLineSegments);
    join_.combine(row(factors_, n), row(factors_, n), {row(factors_, n - 1), 1}, kLineSegments);
  }
  for (std::int64_t n = 0; n < kLineSegments; ++n)
    step(at(before_, n + 1), row(factors_, length - 1) + n * size_, at(before_, n), row(held_, length - 1) + n * size_,
         1);
  for (std::int64_t n = 0; n < length; ++n)
    step(row(values_, n), row(factors_, n), before_.data(), row(held_, n), kLineSegments);
  move({line.h + t * line.of_h.along * size_, sign * line.of_h.along, sign * line.of_h.along * length},
       {values_.data(), kLineSegments, 1}, length, kLineSegments);
  std::copy_n(at(before_, kLineSegments), size_, before_.data());
}

}  // namespace eindb
