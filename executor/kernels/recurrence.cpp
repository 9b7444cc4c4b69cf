#include "executor/kernels/recurrence.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <type_traits>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "tensor/dtype.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLanesSideBySide = 512;  // whose values of one step fit the first-level cache
constexpr std::int64_t kLanesApart = 2;         // whose lines stay in the caches, even where all fall into one set
constexpr std::int64_t kStepsPerPoll = 256;

using Moves = RecurrenceLines::Moves;

template <class T>
struct Lanes {
  const T* x;
  const T* a;
  T* h;
};

template <class T>
T next(BlockOp op, T a, T before, T x) {
  if (op == BlockOp::SumRecurrence) return scalar_add(scalar_multiply(a, before), x);
  const auto moved = scalar_add(a, before);
  if (op == BlockOp::LogSumExpRecurrence) return scalar_log_add_exp(moved, x);
  return op == BlockOp::MaxRecurrence ? scalar_greatest(moved, x) : scalar_least(moved, x);
}

class Recurrence {
 public:
  Recurrence(const BlockFunction& function, const LabelView& x, const LabelView& a, const MutableLabelView& result,
             const RecurrenceLabels& labels, std::span<const std::int64_t> sizes, UserRecurrence* user)
      : function_(function),
        user_(user),
        x_(x),
        a_(a),
        result_(result),
        steps_(sizes[labels.read]),
        of_x_{x.strides[labels.read], 0},
        of_a_{a.strides[labels.read], 0},
        of_h_{result.strides[labels.written], 0} {
    CHECK(sizes[labels.written] == steps_, "a recurrence gives as many values as it reads");
    auto batch = labels.batch;
    // Lanes are best where they lie side by side, and else where there are most.
    const auto better = [&](std::size_t p, std::size_t q) {
      const auto rank = [&](std::size_t place) { return std::pair(result.strides[place] != 1, -sizes[place]); };
      return rank(p) < rank(q);
    };
    if (const auto lane = std::min_element(batch.begin(), batch.end(), better); lane != batch.end()) {
      lanes_ = sizes[*lane];
      of_x_.lane = x.strides[*lane];
      of_a_.lane = a.strides[*lane];
      of_h_.lane = result.strides[*lane];
      batch.erase(lane);
    }
    for (const auto place : batch) {
      sizes_.push_back(sizes[place]);
      places_.push_back(place);
    }
  }

  template <class T>
  void run() const {
    std::vector<std::int64_t> index(sizes_.size(), 0);
    if (steps_ == 0 || lanes_ == 0 || std::count(sizes_.begin(), sizes_.end(), 0) > 0) return;
    Lanes<T> lanes{static_cast<const T*>(x_.data), static_cast<const T*>(a_.data), static_cast<T*>(result_.data)};
    for (;;) {
      run_lanes(lanes);
      auto d = index.size();
      for (; d-- > 0;) {
        const auto moved = [&](std::int64_t by) {
          lanes.x += by * x_.strides[places_[d]];
          lanes.a += by * a_.strides[places_[d]];
          lanes.h += by * result_.strides[places_[d]];
        };
        moved(1);
        if (++index[d] < sizes_[d]) break;
        moved(-sizes_[d]);
        index[d] = 0;
      }
      if (d > index.size()) return;
    }
  }

 private:
  template <class T>
  void run_lanes(const Lanes<T>& all) const {
    if (user_ != nullptr)
      return user_->run({.x = reinterpret_cast<const std::byte*>(all.x),
                         .a = reinterpret_cast<const std::byte*>(all.a),
                         .h = reinterpret_cast<std::byte*>(all.h),
                         .of_x = of_x_,
                         .of_a = of_a_,
                         .of_h = of_h_,
                         .steps = steps_,
                         .lanes = lanes_,
                         .backward = function_.descending});
    const bool side_by_side = of_h_.lane == 1;
    const auto width = side_by_side ? kLanesSideBySide : kLanesApart;
    for (std::int64_t lane = 0; lane < lanes_; lane += width) {
      const Lanes<T> lanes{all.x + lane * of_x_.lane, all.a + lane * of_a_.lane, all.h + lane * of_h_.lane};
      const auto count = std::min(width, lanes_ - lane);
      if (side_by_side && of_x_.lane == 1 && of_a_.lane == 1) run_steps<T, 1, 1, 1>(lanes, count);
      else if (side_by_side && of_x_.lane == 1 && of_a_.lane == 0) run_steps<T, 1, 0, 1>(lanes, count);
      else run_steps<T, -1, -1, -1>(lanes, count);
    }
  }

  // X, A and H are strides between lanes, -1 for those that are not known to the compiler.
  template <class T, std::int64_t X, std::int64_t A, std::int64_t H>
  void run_steps(const Lanes<T>& lanes, std::int64_t count) const {
    const auto op = function_.op;
    if (op == BlockOp::SumRecurrence)
      steps<T, X, A, H>(lanes, count, [](T a, T before, T x) { return next(BlockOp::SumRecurrence, a, before, x); });
    else if constexpr (!is_complex_type<T>) {
      if (op == BlockOp::MaxRecurrence)
        steps<T, X, A, H>(lanes, count, [](T a, T before, T x) { return next(BlockOp::MaxRecurrence, a, before, x); });
      else if (op == BlockOp::MinRecurrence)
        steps<T, X, A, H>(lanes, count, [](T a, T before, T x) { return next(BlockOp::MinRecurrence, a, before, x); });
      else
        steps<T, X, A, H>(lanes, count,
                          [](T a, T before, T x) { return next(BlockOp::LogSumExpRecurrence, a, before, x); });
    } else {
      CHECK(false, "complex numbers have no order");
    }
  }

  template <class T, std::int64_t X, std::int64_t A, std::int64_t H, class Next>
  void steps(const Lanes<T>& lanes, std::int64_t count, Next&& next_value) const {
    if (X < 0 && count <= kLanesApart) {
      if (count == kLanesApart) return steps_apart<T, kLanesApart>(lanes, next_value);
      return steps_apart<T, 1>(lanes, next_value);
    }
    const auto x_lane = X < 0 ? of_x_.lane : X;
    const auto a_lane = A < 0 ? of_a_.lane : A;
    const auto h_lane = H < 0 ? of_h_.lane : H;
    const bool backward = function_.descending;
    for (std::int64_t n = 0; n < steps_; ++n) {
      if (n % kStepsPerPoll == 0) poll_cancellation();
      const auto t = backward ? steps_ - 1 - n : n;
      const T* x = lanes.x + t * of_x_.along;
      T* h = lanes.h + t * of_h_.along;
      if (n == 0) {
        for (std::int64_t lane = 0; lane < count; ++lane) h[lane * h_lane] = x[lane * x_lane];
        continue;
      }
      const T* a = lanes.a + (backward ? t + 1 : t) * of_a_.along;
      const T* before = h + (backward ? of_h_.along : -of_h_.along);
      for (std::int64_t lane = 0; lane < count; ++lane)
        h[lane * h_lane] = next_value(a[lane * a_lane], before[lane * h_lane], x[lane * x_lane]);
    }
  }

  // Few lanes, whose last values stay in registers.
  template <class T, std::int64_t Count, class Next>
  void steps_apart(const Lanes<T>& lanes, Next&& next_value) const {
    const bool backward = function_.descending;
    const auto first = backward ? steps_ - 1 : 0;
    std::array<T, Count> last;
    for (std::int64_t lane = 0; lane < Count; ++lane)
      lanes.h[first * of_h_.along + lane * of_h_.lane] = last[static_cast<std::size_t>(lane)] =
          lanes.x[first * of_x_.along + lane * of_x_.lane];
    for (std::int64_t n = 1; n < steps_; ++n) {
      if (n % kStepsPerPoll == 0) poll_cancellation();
      const auto t = backward ? steps_ - 1 - n : n;
      const T* x = lanes.x + t * of_x_.along;
      const T* a = lanes.a + (backward ? t + 1 : t) * of_a_.along;
      T* h = lanes.h + t * of_h_.along;
      for (std::int64_t lane = 0; lane < Count; ++lane) {
        auto& value = last[static_cast<std::size_t>(lane)];
        h[lane * of_h_.lane] = value = next_value(a[lane * of_a_.lane], value, x[lane * of_x_.lane]);
      }
    }
  }

  const BlockFunction& function_;
  UserRecurrence* user_;  // null for a recurrence of the algebra
  const LabelView& x_;
  const LabelView& a_;
  const MutableLabelView& result_;
  std::int64_t steps_;
  std::int64_t lanes_ = 1;
  Moves of_x_;
  Moves of_a_;
  Moves of_h_;
  std::vector<std::int64_t> sizes_;  // of the batch labels but that of the lanes
  std::vector<std::size_t> places_;
};

}  // namespace

void run_recurrence(const BlockFunction& function, const LabelView& x, const LabelView& a,
                    const MutableLabelView& result, const RecurrenceLabels& labels, std::span<const std::int64_t> sizes,
                    UserRecurrence* user) {
  CHECK((user != nullptr) == (function.op == BlockOp::UserRecurrence), "a user's recurrence has its functions");
  CHECK(x.dtype == result.dtype && a.dtype == result.dtype, "a recurrence is computed in one type");
  const Recurrence recurrence(function, x, a, result, labels, sizes, user);
  dispatch(result.dtype, [&](auto type) { recurrence.run<typename decltype(type)::type>(); });
}

}  // namespace eindb
