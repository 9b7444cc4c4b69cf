#include "executor/kernels/scan_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/loop_nest.hpp"
#include "executor/kernels/user_scan.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {
namespace {

struct Adds {
  template <class T>
  static T apply(T a, T b) {
    return wrapping_sum(a, b);
  }
  template <class T>
  static T wrapping_sum(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else return a + b;
  }
};
struct Multiplies {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else return a * b;
  }
};
struct TakesLeast {
  template <class T>
  static T apply(T a, T b) {
    return scalar_least(a, b);
  }
};
struct TakesGreatest {
  template <class T>
  static T apply(T a, T b) {
    return scalar_greatest(a, b);
  }
};

struct AddsExponentials {
  template <class T>
  static T apply(T a, T b) {
    return scalar_log_add_exp(a, b);
  }
};

// The aggregates so far of up to kLanes rows.
template <class T, class Combine, std::int64_t kLanes>
class Running {
 public:
  Running(T nothing, std::int64_t count) { std::fill_n(values_, count, nothing); }
  void take(std::int64_t row, T value) { values_[row] = Combine::apply(values_[row], value); }
  T value(std::int64_t row) const { return values_[row]; }

 private:
  T values_[kLanes];
};

// LOGSUMEXP as the greatest value and the sum of exponentials beside it, which is exact where logarithms of all partial
// sums would round each of them.
template <class T, std::int64_t kLanes>
class Running<T, AddsExponentials, kLanes> {
 public:
  Running(T nothing, std::int64_t count) {
    std::fill_n(greatest_, count, static_cast<double>(nothing));
    std::fill_n(sum_, count, 0);
  }
  void take(std::int64_t row, T value) {
    auto& greatest = greatest_[row];
    auto& sum = sum_[row];
    const auto next = static_cast<double>(value);
    if (next < greatest) {
      sum += std::exp(next - greatest);
    } else if (next == greatest) {
      sum += std::isinf(next) && next < 0 ? 0 : 1;
    } else {
      sum = sum * std::exp(greatest - next) + 1;
      greatest = next;
    }
  }
  T value(std::int64_t row) const { return static_cast<T>(std::log(sum_[row]) + greatest_[row]); }

 private:
  double greatest_[kLanes];
  double sum_[kLanes];
};

std::size_t place_in(const Labels& labels, Label wanted) {
  const auto place = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), wanted) - labels.begin());
  CHECK(place < labels.size(), "the labels of a scan are those of its EinSum");
  return place;
}

}  // namespace

// One call. Several rows are scanned side by side: as vectors where they are contiguous, and to overlap the chains of
// dependent operations where they are not.
template <class T, class Combine>
class ScanKernel::Call {
 public:
  Call(const ScanKernel& kernel, const ScanLines& lines, bool first)
      : lines_(lines), is_first_(first), empty_(identity_of<T>(kernel.aggregate_)) {}

  void run() {
    for_each_group(lines_, [&](const void* from, void* to, std::int64_t lanes) {
      const auto* source = static_cast<const T*>(from);
      auto* output = static_cast<T*>(to);
      const bool is_contiguous = lines_.lane_source == 1 && lines_.lane_output == 1;
      if (lanes == kScanLanes && is_contiguous) scan<kScanLanes, true>(source, output, kScanLanes);
      else if (is_contiguous) scan<0, true>(source, output, lanes);
      else narrow(source, output, lanes);
    });
  }

 private:
  // Rows that are not contiguous, eight at a time.
  void narrow(const T* source, T* output, std::int64_t lanes) {
    constexpr std::int64_t kAbreast = 8;
    std::int64_t n = 0;
    for (; n + kAbreast <= lanes; n += kAbreast)
      scan<kAbreast, false>(source + n * lines_.lane_source, output + n * lines_.lane_output, kAbreast);
    for (; n < lanes; ++n) scan<1, false>(source + n * lines_.lane_source, output + n * lines_.lane_output, 1);
  }

  // kLanes is the number of rows, if it is known when compiled.
  template <std::int64_t kLanes, bool kContiguous>
  void scan(const T* source, T* output, std::int64_t lanes) const {
    const auto count = kLanes > 0 ? kLanes : lanes;
    Running<T, Combine, (kLanes > 0 ? kLanes : kScanLanes)> running(empty_, count);
    const auto in_source = kContiguous ? 1 : lines_.lane_source;
    const auto in_output = kContiguous ? 1 : lines_.lane_output;
    std::int64_t taken = 0;  // cells of the operand
    for (std::int64_t n = 0; n < lines_.results; ++n) {
      const auto wanted = lines_.taken_by(n);
      for (; taken < wanted; ++taken) {
        const auto* from = source + taken * lines_.step_source;
        for (std::int64_t i = 0; i < count; ++i) running.take(i, from[i * in_source]);
      }
      auto* to = output + n * lines_.step_output;
      if (is_first_)
        for (std::int64_t i = 0; i < count; ++i) to[i * in_output] = running.value(i);
      else
        for (std::int64_t i = 0; i < count; ++i)
          to[i * in_output] = Combine::apply(to[i * in_output], running.value(i));
    }
  }

  const ScanLines& lines_;
  bool is_first_;
  T empty_;
};

ScanKernel::ScanKernel(const ScanForm& form, const EinSum& einsum, DType compute)
    : form_(form),
      aggregate_(einsum.aggregate),
      compute_(compute),
      along_(place_in(einsum.labels(), form.along)),
      upto_(place_in(einsum.labels(), form.upto)) {
  if (einsum.user != nullptr) fold_.emplace(einsum.user, compute);
}

void ScanKernel::run(const LevelTable& level, const LabelView& operand, std::span<const PartRange> ranges,
                     const MutableLabelView& accumulator, bool first) const {
  CHECK(operand.dtype == compute_ && accumulator.dtype == compute_, "a scan is computed in the type of its operand");
  const auto lines = lines_of(operand, ranges, accumulator);
  if (fold_) {
    CHECK(first || fold_->aggregate().commutative, "a fold in order takes a whole line at once");
    return UserScan(level, *fold_, lines, form_.forward, first).run();
  }
  dispatch(compute_, [&](auto type) { dispatch_aggregate<typename decltype(type)::type>(lines, first); });
}

// Backward, both labels are visited from their ends.
ScanLines ScanKernel::lines_of(const LabelView& operand, std::span<const PartRange> ranges,
                               const MutableLabelView& output) const {
  const auto& along = ranges[along_];
  const auto& upto = ranges[upto_];
  const auto size = static_cast<std::int64_t>(size_of(compute_));
  ScanLines lines{
      .cells = along.size,
      .results = upto.size,
      .step_source = operand.strides[along_],
      .step_output = output.strides[upto_],
      .taken_first = (form_.forward ? upto.begin - along.begin : along.end() - upto.end()) + (form_.inclusive ? 1 : 0)};
  std::int64_t from = 0;
  std::int64_t to = 0;
  if (!form_.forward) {
    from = (along.size - 1) * lines.step_source;
    to = (upto.size - 1) * lines.step_output;
    lines.step_source = -lines.step_source;
    lines.step_output = -lines.step_output;
  }
  lines.element_size = size;
  lines.source = static_cast<const std::byte*>(operand.data) + from * size;
  lines.output = static_cast<std::byte*>(output.data) + to * size;
  for (std::size_t l = 0; l < ranges.size(); ++l)
    if (l != along_ && l != upto_ && ranges[l].size > 1)
      lines.loops.push_back({ranges[l].size, false, {operand.strides[l], output.strides[l]}});
  const auto is_longer = [](const Loop& a, const Loop& b) { return std::abs(a.strides[1]) > std::abs(b.strides[1]); };
  std::stable_sort(lines.loops.begin(), lines.loops.end(), is_longer);
  if (!lines.loops.empty()) {
    lines.lanes = lines.loops.back().size;
    lines.lane_source = lines.loops.back().strides[0];
    lines.lane_output = lines.loops.back().strides[1];
    lines.loops.pop_back();
  }
  return lines;
}

template <class T>
void ScanKernel::dispatch_aggregate(const ScanLines& lines, bool first) const {
  switch (aggregate_) {
    case Aggregate::Sum: return Call<T, Adds>(*this, lines, first).run();
    case Aggregate::Prod: return Call<T, Multiplies>(*this, lines, first).run();
    default: break;
  }
  if constexpr (!is_complex_type<T>) {
    if (aggregate_ == Aggregate::Min) return Call<T, TakesLeast>(*this, lines, first).run();
    if (aggregate_ == Aggregate::Max) return Call<T, TakesGreatest>(*this, lines, first).run();
  }
  if constexpr (std::is_floating_point_v<T>)
    if (aggregate_ == Aggregate::LogSumExp) return Call<T, AddsExponentials>(*this, lines, first).run();
  CHECK(false, "a scan has one of five aggregates, or a user's");
}

bool ScanKernel::is_empty(std::span<const PartRange> ranges) const {
  if (aggregate_ != Aggregate::Sum) return false;  // a result that stays absent is zero
  const auto& along = ranges[along_];
  const auto& upto = ranges[upto_];
  if (form_.forward) return along.begin >= upto.end();
  return along.end() <= upto.begin;
}

}  // namespace eindb
