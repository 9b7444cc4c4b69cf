#include "executor/kernels/scan_kernel.hpp"

#include <algorithm>
#include <cstdlib>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/loop_nest.hpp"
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
  Call(const ScanKernel& kernel, const LabelView& operand, std::span<const PartRange> ranges,
       const MutableLabelView& output, bool first)
      : form_(kernel.form_),
        along_(ranges[kernel.along_]),
        upto_(ranges[kernel.upto_]),
        is_first_(first),
        empty_(identity_of<T>(kernel.aggregate_)) {
    source_ = static_cast<const T*>(operand.data);
    output_ = static_cast<T*>(output.data);
    step_source_ = operand.strides[kernel.along_];
    step_output_ = output.strides[kernel.upto_];
    for (std::size_t l = 0; l < ranges.size(); ++l)
      if (l != kernel.along_ && l != kernel.upto_ && ranges[l].size > 1)
        loops_.push_back({ranges[l].size, false, {operand.strides[l], output.strides[l]}});
    const auto is_longer = [](const Loop& a, const Loop& b) { return std::abs(a.strides[1]) > std::abs(b.strides[1]); };
    std::stable_sort(loops_.begin(), loops_.end(), is_longer);
    if (!loops_.empty()) {
      lanes_ = loops_.back();
      loops_.pop_back();
    }
  }

  void run() {
    constexpr std::int64_t kLanes = 256;
    StreamOffsets offsets{0, 0};
    Odometer rows(loops_);
    do {
      for (std::int64_t begin = 0; begin < lanes_.size; begin += kLanes) {
        const auto lanes = std::min(kLanes, lanes_.size - begin);
        poll_cancellation_after(static_cast<std::size_t>((along_.size + upto_.size) * lanes / 4 + 1));
        const auto* source = source_ + static_cast<std::int64_t>(offsets[0]) + begin * lanes_.strides[0];
        auto* output = output_ + static_cast<std::int64_t>(offsets[1]) + begin * lanes_.strides[1];
        if (lanes == kLanes && lanes_.strides[0] == 1 && lanes_.strides[1] == 1)
          scan<kLanes, true>(source, output, kLanes);
        else if (lanes_.strides[0] == 1 && lanes_.strides[1] == 1) scan<0, true>(source, output, lanes);
        else narrow(source, output, lanes);
      }
    } while (!loops_.empty() && rows.advance(offsets));
  }

 private:
  // Rows that are not contiguous, eight at a time.
  void narrow(const T* source, T* output, std::int64_t lanes) {
    constexpr std::int64_t kAbreast = 8;
    std::int64_t n = 0;
    for (; n + kAbreast <= lanes; n += kAbreast)
      scan<kAbreast, false>(source + n * lanes_.strides[0], output + n * lanes_.strides[1], kAbreast);
    for (; n < lanes; ++n) scan<1, false>(source + n * lanes_.strides[0], output + n * lanes_.strides[1], 1);
  }

  // kLanes is the number of rows, if it is known when compiled.
  template <std::int64_t kLanes, bool kContiguous>
  void scan(const T* source, T* output, std::int64_t lanes) const {
    const auto count = kLanes > 0 ? kLanes : lanes;
    T running[kLanes > 0 ? kLanes : 256];
    std::fill_n(running, count, empty_);
    const auto in_source = kContiguous ? 1 : lanes_.strides[0];
    const auto in_output = kContiguous ? 1 : lanes_.strides[1];
    std::int64_t taken = 0;  // cells of the operand
    for (std::int64_t n = 0; n < upto_.size; ++n) {
      // Backward, both labels are visited from their ends.
      const auto t = form_.forward ? n : upto_.size - 1 - n;
      const auto room = form_.forward ? upto_.begin + t - along_.begin : along_.end() - 1 - upto_.begin - t;
      const auto wanted = std::clamp<std::int64_t>(room + (form_.inclusive ? 1 : 0), 0, along_.size);
      for (; taken < wanted; ++taken) {
        const auto s = form_.forward ? taken : along_.size - 1 - taken;
        const auto* from = source + s * step_source_;
        for (std::int64_t i = 0; i < count; ++i) running[i] = Combine::apply(running[i], from[i * in_source]);
      }
      auto* to = output + t * step_output_;
      if (is_first_)
        for (std::int64_t i = 0; i < count; ++i) to[i * in_output] = running[i];
      else
        for (std::int64_t i = 0; i < count; ++i) to[i * in_output] = Combine::apply(to[i * in_output], running[i]);
    }
  }

  const ScanForm& form_;
  PartRange along_;
  PartRange upto_;
  bool is_first_;
  T empty_;
  const T* source_ = nullptr;
  T* output_ = nullptr;
  std::int64_t step_source_ = 0;
  std::int64_t step_output_ = 0;
  std::vector<Loop> loops_;       // over the other labels, with strides in the source and in the output
  Loop lanes_{1, false, {1, 1}};  // the innermost of them
};

ScanKernel::ScanKernel(const ScanForm& form, const EinSum& einsum, DType compute)
    : form_(form),
      aggregate_(einsum.aggregate),
      compute_(compute),
      along_(place_in(einsum.labels(), form.along)),
      upto_(place_in(einsum.labels(), form.upto)) {}

void ScanKernel::run(const LabelView& operand, std::span<const PartRange> ranges, const MutableLabelView& accumulator,
                     bool first) const {
  CHECK(operand.dtype == compute_ && accumulator.dtype == compute_, "a scan is computed in the type of its operand");
  dispatch(compute_,
           [&](auto type) { dispatch_aggregate<typename decltype(type)::type>(operand, ranges, accumulator, first); });
}

template <class T>
void ScanKernel::dispatch_aggregate(const LabelView& operand, std::span<const PartRange> ranges,
                                    const MutableLabelView& accumulator, bool first) const {
  switch (aggregate_) {
    case Aggregate::Sum: return Call<T, Adds>(*this, operand, ranges, accumulator, first).run();
    case Aggregate::Prod: return Call<T, Multiplies>(*this, operand, ranges, accumulator, first).run();
    default: break;
  }
  if constexpr (!is_complex_type<T>) {
    if (aggregate_ == Aggregate::Min) return Call<T, TakesLeast>(*this, operand, ranges, accumulator, first).run();
    if (aggregate_ == Aggregate::Max) return Call<T, TakesGreatest>(*this, operand, ranges, accumulator, first).run();
  }
  CHECK(false, "a scan has one of four aggregates");
}

bool ScanKernel::is_empty(std::span<const PartRange> ranges) const {
  if (aggregate_ != Aggregate::Sum) return false;  // a result that stays absent is zero
  const auto& along = ranges[along_];
  const auto& upto = ranges[upto_];
  if (form_.forward) return along.begin >= upto.end();
  return along.end() <= upto.begin;
}

}  // namespace eindb
