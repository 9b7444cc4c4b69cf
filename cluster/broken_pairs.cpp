#include "cluster/broken_pairs.hpp"

#include <algorithm>
#include <set>

#include "common/check.hpp"

namespace eindb {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
using LeftOut = std::set<std::size_t>;

constexpr std::size_t kMostWays = 32;
constexpr int kMostSteps = 2000;

// Finds vertex covers of a graph by branching on an uncovered edge: one of its ends is left out.
class Ways {
 public:
  explicit Ways(const Pairs& pairs) : pairs_(pairs) {
    for (const auto& [one, other] : pairs) {
      ++degrees_[one];
      ++degrees_[other];
    }
  }

  std::vector<LeftOut> find() {
    LeftOut none;
    branch(none);
    return {found_.begin(), found_.end()};
  }

 private:
  void branch(LeftOut& out) {
    if (found_.size() == kMostWays || ++steps_ > kMostSteps) return;
    const auto* pair = uncovered(out);
    if (pair == nullptr) {
      if (is_minimal(out)) found_.insert(out);
      return;
    }
    const auto [one, other] = *pair;
    const bool one_first = degrees_.at(one) >= degrees_.at(other);
    for (const auto worker : {one_first ? one : other, one_first ? other : one}) {
      out.insert(worker);
      branch(out);
      out.erase(worker);
    }
  }

  // An uncovered pair with the worker of highest degree, so that the first cover found is a good one.
  const Pairs::value_type* uncovered(const LeftOut& out) const {
    const Pairs::value_type* best = nullptr;
    const auto weight = [this](const auto& pair) {
      return std::max(degrees_.at(pair.first), degrees_.at(pair.second));
    };
    for (const auto& pair : pairs_)
      if (!out.contains(pair.first) && !out.contains(pair.second) && (best == nullptr || weight(pair) > weight(*best)))
        best = &pair;
    return best;
  }

  // Whether no worker in `out` could be removed from it.
  bool is_minimal(const LeftOut& out) const {
    return std::all_of(out.begin(), out.end(), [&](std::size_t worker) {
      return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) {
        return (pair.first == worker && !out.contains(pair.second)) ||
               (pair.second == worker && !out.contains(pair.first));
      });
    });
  }

  const Pairs& pairs_;
  std::map<std::size_t, int> degrees_;
  std::set<LeftOut> found_;
  int steps_ = 0;
};

}  // namespace

bool BrokenPairs::note_failure(DataId one, DataId other, const std::string& reason, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  auto& pair = pairs_[key_of(one, other)];
  const bool again = pair.failed && now - *pair.failed < kHold;
  pair.failed = now;
  pair.reason = reason;
  if (again) pair.held_until = now + kHold;
  return again && !std::exchange(pair.is_broken, true);
}

bool BrokenPairs::note_probe(DataId one, DataId other, const std::optional<Error>& error, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = pairs_.find(key_of(one, other));
  if (!error && found == pairs_.end()) return false;
  auto& pair = pairs_[key_of(one, other)];
  if (error) pair.reason = error->message();
  const bool is_broken = error || now < pair.held_until;
  return std::exchange(pair.is_broken, is_broken) != is_broken;
}

void BrokenPairs::forget(DataId worker) {
  const std::lock_guard lock(mutex_);
  std::erase_if(pairs_, [&](const auto& pair) { return pair.first.first == worker || pair.first.second == worker; });
}

std::vector<BrokenPair> BrokenPairs::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<BrokenPair> out;
  for (const auto& [key, state] : pairs_)
    if (state.is_broken) out.push_back({key.first, key.second, state.reason});
  return out;
}

std::vector<std::vector<std::size_t>> ways_without_pairs(std::size_t count, const Pairs& pairs) {
  DCHECK(std::all_of(pairs.begin(), pairs.end(),
                     [&](const auto& pair) { return pair.first < count && pair.second < count; }),
         "a pair is of two of the workers");
  std::vector<std::vector<std::size_t>> ways;
  for (const auto& way : Ways(pairs).find()) ways.emplace_back(way.begin(), way.end());
  std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::erase_if(ways, [&](const auto& way) { return way.size() >= count; });
  return ways;
}

}  // namespace eindb
