#include "optimizer/partitions/viable.hpp"

#include <algorithm>
#include <numeric>

#include "common/check.hpp"
#include "common/divisors.hpp"
#include "common/poll_steps.hpp"

namespace eindb {
namespace {

// Counts the ways in which labels, each with a bound of its parts, share out the factors of a number. Doubles suffice,
// since counts are compared with limits only.
class WaysToShare {
 public:
  // `divisors` has all divisors of the number, ascending, and must outlive this.
  explicit WaysToShare(const std::vector<std::int64_t>& divisors) : divisors_(&divisors), ways_(divisors.size(), 0) {
    ways_.front() = 1;
  }

  void add(std::int64_t most) {
    const auto& values = *divisors_;
    for (std::size_t n = ways_.size(); n-- > 0;)
      for (std::size_t rest = 0; rest < n; ++rest)
        if (values[n] % values[rest] == 0 && values[n] / values[rest] <= most) ways_[n] += ways_[rest];
  }
  // Of the whole number.
  double count() const { return ways_.back(); }
  bool make(std::int64_t divisor) const {
    const auto place = std::lower_bound(divisors_->begin(), divisors_->end(), divisor) - divisors_->begin();
    return ways_[static_cast<std::size_t>(place)] > 0;
  }
  // The largest divisor that the labels so far make.
  std::int64_t largest() const {
    auto n = ways_.size() - 1;
    while (ways_[n] == 0) --n;
    return (*divisors_)[n];
  }

 private:
  const std::vector<std::int64_t>* divisors_;
  std::vector<double> ways_;  // of each divisor
};

std::int64_t calls_within(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& divisors) {
  WaysToShare ways(divisors);
  for (const auto extent : extents)
    if (extent > 1) ways.add(extent);
  return ways.largest();
}

// Stops cutting the labels with the smallest extents until there are at most `limit` vectors. The largest labels keep
// their cuts as long as possible, at least until they make all calls. `divisors` are those of the calls.
void limit_choice(std::vector<std::int64_t>& most, const std::vector<std::int64_t>& divisors, double limit) {
  std::vector<std::size_t> by_extent(most.size());
  std::iota(by_extent.begin(), by_extent.end(), std::size_t{0});
  std::stable_sort(by_extent.begin(), by_extent.end(), [&](auto a, auto b) { return most[a] > most[b]; });
  WaysToShare ways(divisors);
  for (const auto label : by_extent) {
    const bool are_enough = ways.count() > 0;
    ways.add(most[label]);
    if (are_enough && ways.count() > limit) most[label] = 1;
  }
  CHECK(ways.count() > 0, "labels that may be cut make all calls");
}

// Recurses over the labels that can be cut; there are at most as many as vectors.
class Enumeration {
 public:
  // `divisors` are those of the calls.
  Enumeration(const std::vector<std::int64_t>& most, const std::vector<std::int64_t>& divisors)
      : most_(most), divisors_(divisors), d_(most.size(), 1) {
    for (std::size_t label = 0; label < most.size(); ++label)
      if (most[label] > 1) cut_.push_back(label);
    from_.assign(cut_.size() + 1, WaysToShare(divisors));
    for (std::size_t n = cut_.size(); n-- > 0;) {
      from_[n] = from_[n + 1];
      from_[n].add(most[cut_[n]]);
    }
  }

  std::vector<Partition> run() {
    visit(0, divisors_.back());
    CHECK(!out_.empty(), "some vector makes as many calls as the extents allow");
    return std::move(out_);
  }

 private:
  void visit(std::size_t place, std::int64_t calls) {
    if (place == cut_.size()) return out_.push_back(d_);
    poll_cancellation_after(d_.size());
    const auto label = cut_[place];
    for (auto parts = divisors_.rbegin(); parts != divisors_.rend(); ++parts) {
      if (*parts > most_[label] || calls % *parts != 0 || !from_[place + 1].make(calls / *parts)) continue;
      d_[label] = *parts;
      visit(place + 1, calls / *parts);
    }
  }

  const std::vector<std::int64_t>& most_;
  const std::vector<std::int64_t>& divisors_;
  std::vector<std::size_t> cut_;
  std::vector<WaysToShare> from_;  // the calls that the labels of cut_ from each place on can make
  Partition d_;
  std::vector<Partition> out_;
};

}  // namespace

std::int64_t viable_calls(const std::vector<std::int64_t>& extents, std::int64_t p) {
  return calls_within(extents, divisors(p));
}

std::vector<Partition> viable(const std::vector<std::int64_t>& extents, std::int64_t p, std::size_t limit) {
  auto of_calls = divisors(p);
  if (const auto calls = calls_within(extents, of_calls); calls < p) of_calls = divisors(calls);
  std::vector<std::int64_t> most;
  for (const auto extent : extents)
    most.push_back(*(std::upper_bound(of_calls.begin() + 1, of_calls.end(), extent) - 1));
  limit_choice(most, of_calls, static_cast<double>(limit));
  return Enumeration(most, of_calls).run();
}

std::vector<Partition> viable_in_slices(std::vector<std::int64_t> extents, const std::vector<std::int64_t>& slices,
                                        std::int64_t p, std::size_t limit) {
  CHECK(slices.size() == extents.size(), "of every label it is known how many slices cut it");
  for (std::size_t n = 0; n < extents.size(); ++n)
    if (slices[n] > 1) extents[n] /= slices[n];
  auto out = viable(extents, p, limit);
  for (auto& d : out)
    for (std::size_t n = 0; n < d.size(); ++n) d[n] *= slices[n];
  return out;
}

}  // namespace eindb
