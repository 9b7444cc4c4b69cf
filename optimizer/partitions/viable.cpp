#include "optimizer/partitions/viable.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "common/check.hpp"
#include "common/divisors.hpp"
#include "common/poll_steps.hpp"

namespace eindb {
namespace {

// The ways to split each divisor of a number into the parts of one label and the calls that are left to others.
class CallSplits {
 public:
  struct Split {
    std::size_t rest = 0;  // the number of the divisor that is left
    std::int64_t parts = 1;
  };

  explicit CallSplits(std::int64_t calls) : divisors_(divisors(calls)) {
    first_.reserve(divisors_.size() + 1);
    splits_.reserve(divisors_.size() * (divisors_.size() + 1) / 2);
    for (const auto divisor : divisors_) {
      first_.push_back(splits_.size());
      for (std::size_t rest = 0; rest < first_.size(); ++rest)
        if (divisor % divisors_[rest] == 0) splits_.push_back({rest, divisor / divisors_[rest]});
    }
    first_.push_back(splits_.size());
  }

  // Ascending.
  const std::vector<std::int64_t>& values() const { return divisors_; }
  // Of divisor number n: those with the most parts come first, that into one part last.
  std::span<const Split> of(std::size_t n) const {
    return std::span(splits_).subspan(first_[n], first_[n + 1] - first_[n]);
  }
  // The largest divisor that is at most `most`, or 1.
  std::int64_t within(std::int64_t most) const {
    return *(std::upper_bound(divisors_.begin() + 1, divisors_.end(), most) - 1);
  }

 private:
  std::vector<std::int64_t> divisors_;
  std::vector<std::size_t> first_;  // of each divisor, the first of its splits
  std::vector<Split> splits_;
};

// Counts the ways in which labels, each with a bound of its parts, make the divisors of a number of calls. Doubles
// suffice, since counts are compared with limits only.
class WaysToSplit {
 public:
  // `splits` must outlive this.
  explicit WaysToSplit(const CallSplits& splits) : splits_(&splits), ways_(splits.values().size(), 0) {
    ways_.front() = 1;
  }

  void add(std::int64_t most) {
    for (std::size_t n = ways_.size(); n-- > 0;) {
      double ways = 0;
      for (const auto& split : splits_->of(n))
        if (split.parts <= most) ways += ways_[split.rest];
      ways_[n] = ways;
    }
  }
  // Of all calls.
  double count() const { return ways_.back(); }
  bool make(std::size_t divisor) const { return ways_[divisor] > 0; }
  // The largest divisor that the labels so far make.
  std::int64_t largest() const {
    auto n = ways_.size() - 1;
    while (ways_[n] == 0) --n;
    return splits_->values()[n];
  }

 private:
  const CallSplits* splits_;
  std::vector<double> ways_;  // of each divisor
};

// Stops cutting the labels with the smallest extents until there are at most `limit` vectors. The largest labels keep
// their cuts as long as possible, at least until they make all calls.
void limit_choice(std::vector<std::int64_t>& most, const CallSplits& splits, double limit) {
  std::vector<std::size_t> by_extent(most.size());
  std::iota(by_extent.begin(), by_extent.end(), std::size_t{0});
  std::stable_sort(by_extent.begin(), by_extent.end(), [&](auto a, auto b) { return most[a] > most[b]; });
  WaysToSplit ways(splits);
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
  Enumeration(const std::vector<std::int64_t>& most, const CallSplits& splits)
      : most_(most), splits_(splits), d_(most.size(), 1) {
    for (std::size_t label = 0; label < most.size(); ++label)
      if (most[label] > 1) cut_.push_back(label);
    from_.assign(cut_.size() + 1, WaysToSplit(splits));
    for (std::size_t n = cut_.size(); n-- > 0;) {
      from_[n] = from_[n + 1];
      from_[n].add(most[cut_[n]]);
    }
  }

  // The largest divisor that the labels make, and the number of vectors that make all calls.
  std::int64_t most_calls() const { return from_.front().largest(); }
  double count() const { return from_.front().count(); }

  std::vector<Partition> run() {
    visit(0, splits_.values().size() - 1);
    CHECK(!out_.empty(), "some vector makes as many calls as the extents allow");
    return std::move(out_);
  }

 private:
  // `calls` is the number of the divisor that the labels from `place` on make.
  void visit(std::size_t place, std::size_t calls) {
    if (place == cut_.size()) return out_.push_back(d_);
    poll_cancellation_after(d_.size());
    const auto label = cut_[place];
    for (const auto& split : splits_.of(calls)) {
      if (split.parts > most_[label] || !from_[place + 1].make(split.rest)) continue;
      d_[label] = split.parts;
      visit(place + 1, split.rest);
    }
  }

  const std::vector<std::int64_t>& most_;
  const CallSplits& splits_;
  std::vector<std::size_t> cut_;
  std::vector<WaysToSplit> from_;  // by the labels of cut_ from each place on
  Partition d_;
  std::vector<Partition> out_;
};

}  // namespace

std::int64_t viable_calls(const std::vector<std::int64_t>& extents, std::int64_t p) {
  const CallSplits splits(p);
  WaysToSplit ways(splits);
  for (const auto extent : extents)
    if (extent > 1) ways.add(extent);
  return ways.largest();
}

std::vector<Partition> viable(const std::vector<std::int64_t>& extents, std::int64_t p, std::size_t limit) {
  if (p == 1) return {Partition(extents.size(), 1)};
  const CallSplits splits(p);
  std::vector<std::int64_t> most;
  for (const auto extent : extents) most.push_back(splits.within(extent));
  Enumeration enumeration(most, splits);
  if (enumeration.most_calls() < p) return viable(extents, enumeration.most_calls(), limit);
  if (enumeration.count() <= static_cast<double>(limit)) return enumeration.run();
  limit_choice(most, splits, static_cast<double>(limit));
  return Enumeration(most, splits).run();
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
