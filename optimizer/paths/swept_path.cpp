#include "optimizer/paths/swept_path.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <queue>
#include <random>
#include <tuple>
#include <utility>

#include "common/check.hpp"
#include "optimizer/paths/best_path.hpp"
#include "optimizer/paths/random_share.hpp"

namespace eindb {
namespace {

using Index = std::uint32_t;  // of an operand
using Mode = std::vector<double>;

constexpr std::size_t kPairsPerPoll = 256;
// Steps of the walk by which the modes are found, if the budget allows, and the fewest that are worth it.
constexpr std::uint64_t kMostSteps = 3000;
constexpr std::uint64_t kFewestSteps = 20;
constexpr std::uint64_t kStepsPerCorrection = 10;
// For each operand and each of its labels, in addition to those looked at for ratings: queues, and the costs of the
// path.
constexpr std::uint64_t kUnitsPerPartOfSweep = 60;
constexpr double kShareOfModes = 0.4;
constexpr double kLeastLog2Price = -3;  // of the price for a hundredth of all operands
constexpr double kMostLog2Price = 3;
constexpr double kMostNoise = 0.5;

// The operands of a problem as neighbours through labels.
class Neighbourhood {
 public:
  explicit Neighbourhood(const ContractionProblem& problem) : problem_(problem), holders_(problem.extents.size()) {
    for (Index n = 0; n < problem.operands.size(); ++n) {
      for (const auto label : problem.operands[n]) holders_[label].push_back(n);
      label_count_ += problem.operands[n].size();
    }
    for (const auto extent : problem.extents)
      weights_.push_back(std::log2(static_cast<double>(std::max<std::int64_t>(1, extent))));
  }

  std::size_t operand_count() const { return problem_.operands.size(); }
  std::size_t label_count() const { return label_count_; }  // of all operands
  const std::vector<std::size_t>& labels_of(Index operand) const { return problem_.operands[operand]; }
  const std::vector<Index>& holders_of(std::size_t label) const { return holders_[label]; }
  double weight_of(std::size_t label) const { return weights_[label]; }
  const ContractionProblem& problem() const { return problem_; }

  // The steps from `start` to each operand; as far as the farthest where there is no way. Also the farthest operand.
  std::pair<Mode, Index> distances_from(Index start) const {
    Mode distances(operand_count(), -1);
    std::vector<bool> seen(holders_.size(), false);
    std::vector<Index> queue{start};
    distances[start] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      for (const auto label : labels_of(queue[next])) {
        if (seen[label]) continue;
        seen[label] = true;
        for (const auto other : holders_[label]) {
          if (distances[other] >= 0) continue;
          distances[other] = distances[queue[next]] + 1;
          queue.push_back(other);
        }
      }
    }
    for (auto& distance : distances)
      if (distance < 0) distance = distances[queue.back()];
    return {std::move(distances), queue.back()};
  }

 private:
  const ContractionProblem& problem_;
  std::vector<std::vector<Index>> holders_;
  std::vector<double> weights_;
  std::size_t label_count_ = 0;
};

// The slowest modes of a lazy random walk, found by walking from guesses.
class WalkModes {
 public:
  WalkModes(const Neighbourhood& near, const SearchContext& context)
      : near_(near), context_(context), degrees_(near.operand_count(), 0) {
    for (Index n = 0; n < degrees_.size(); ++n) {
      for (const auto label : near.labels_of(n))
        if (near.holders_of(label).size() > 1) degrees_[n] += near.weight_of(label);
      degrees_[n] = std::max(degrees_[n], 1e-9);
    }
    total_ = std::accumulate(degrees_.begin(), degrees_.end(), 0.0);
  }

  // The mode is orthogonal to those that were found before.
  void find(Mode guess, std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (step % kStepsPerCorrection == 0) correct(guess);
      context_.poll();
      walk(guess);
    }
    correct(guess);
    modes_.push_back(std::move(guess));
  }
  const std::vector<Mode>& modes() const { return modes_; }

 private:
  void walk(Mode& mode) {
    means_.assign(near_.problem().extents.size(), 0);
    for (std::size_t label = 0; label < means_.size(); ++label) {
      const auto& holders = near_.holders_of(label);
      if (holders.size() < 2) continue;
      for (const auto n : holders) means_[label] += mode[n];
      means_[label] *= near_.weight_of(label) / static_cast<double>(holders.size());
    }
    for (Index n = 0; n < mode.size(); ++n) {
      double sum = 0;
      for (const auto label : near_.labels_of(n)) sum += means_[label];
      mode[n] = (mode[n] + sum / degrees_[n]) / 2;
    }
  }

  // Removes the constant and the modes that are known, and scales to length one.
  void correct(Mode& mode) const {
    const auto product = [&](const Mode& a, const Mode& b) {
      double sum = 0;
      for (std::size_t n = 0; n < a.size(); ++n) sum += degrees_[n] * a[n] * b[n];
      return sum;
    };
    double mean = 0;
    for (std::size_t n = 0; n < mode.size(); ++n) mean += degrees_[n] * mode[n];
    for (auto& value : mode) value -= mean / total_;
    for (const auto& other : modes_) {
      const double part = product(mode, other);
      for (std::size_t n = 0; n < mode.size(); ++n) mode[n] -= part * other[n];
    }
    const double length = std::sqrt(product(mode, mode));
    if (length < 1e-100) return;
    for (auto& value : mode) value /= length;
  }

  const Neighbourhood& near_;
  const SearchContext& context_;
  Mode degrees_;
  double total_ = 0;
  std::vector<Mode> modes_;
  Mode means_;  // by label
};

struct SweepRule {
  Mode place;        // of each operand, in hundredths of all of them
  double price = 0;  // for a hundredth of them
  double noise = 0;  // added to a rating, up to this
  std::uint64_t seed = 0;
};

class Sweep {
 public:
  Sweep(const Neighbourhood& near, const SweepRule& rule, std::uint64_t& work, const SearchContext& context)
      : near_(near),
        rule_(rule),
        work_(work),
        context_(context),
        random_(rule.seed),
        holders_(near.problem().extents.size()),
        taken_(near.problem().extents.size(), 0),
        is_taken_(near.operand_count(), false),
        ratings_(near.operand_count(), std::numeric_limits<double>::quiet_NaN()) {
    for (std::size_t label = 0; label < holders_.size(); ++label)
      holders_[label] = static_cast<Index>(near.holders_of(label).size());
    for (const auto label : near.problem().output) ++holders_[label];
  }

  ResultPairs run() {
    std::vector<Index> by_place(near_.operand_count());
    std::iota(by_place.begin(), by_place.end(), Index{0});
    std::stable_sort(by_place.begin(), by_place.end(),
                     [&](Index a, Index b) { return rule_.place[a] < rule_.place[b]; });
    ResultPairs pairs;
    std::size_t result = by_place.front();
    take(by_place.front());
    for (auto first_left = by_place.begin(); pairs.size() + 1 < by_place.size();) {
      if (pairs.size() % kPairsPerPoll == 0) context_.poll();
      auto operand = next();
      if (operand == kNone) {  // the network is not connected
        first_left = std::find_if(first_left, by_place.end(), [&](Index n) { return !is_taken_[n]; });
        operand = *first_left;
      }
      pairs.emplace_back(std::minmax<std::size_t>(result, operand));
      result = by_place.size() + pairs.size() - 1;
      take(operand);
    }
    return pairs;
  }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();

  Index next() {
    while (!waiting_.empty()) {
      const auto [rating, draw, operand] = waiting_.top();
      waiting_.pop();
      if (!is_taken_[operand] && rating == ratings_[operand]) return operand;
    }
    return kNone;
  }

  void take(Index operand) {
    DCHECK(!is_taken_[operand], "a sweep takes an operand once");
    is_taken_[operand] = true;
    const auto& labels = near_.labels_of(operand);
    for (const auto label : labels) ++taken_[label];
    for (const auto label : labels) {
      if (taken_[label] > 1 && taken_[label] + 1 < holders_[label]) continue;  // no growth changes
      for (const auto other : near_.holders_of(label))
        if (!is_taken_[other]) offer(other);
    }
  }

  void offer(Index operand) {
    double growth = 0;
    for (const auto label : near_.labels_of(operand)) {
      const bool was_open = taken_[label] > 0;
      const bool is_open = taken_[label] + 1 < holders_[label];
      growth += near_.weight_of(label) * (static_cast<int>(is_open) - static_cast<int>(was_open));
    }
    work_ += 2 * near_.labels_of(operand).size();
    ratings_[operand] = growth + rule_.price * rule_.place[operand] + rule_.noise * random_share(random_);
    waiting_.push({ratings_[operand], random_(), operand});
  }

  const Neighbourhood& near_;
  const SweepRule& rule_;
  std::uint64_t& work_;
  const SearchContext& context_;
  std::mt19937_64 random_;
  std::vector<Index> holders_;  // by label: the operands with it, one more if the output has it
  std::vector<Index> taken_;    // by label: the operands with it that are taken
  std::vector<bool> is_taken_;
  std::vector<double> ratings_;
  using Next = std::tuple<double, std::uint64_t, Index>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> waiting_;
};

// The place of each operand along a combination of the modes.
Mode places(const std::vector<Mode>& modes, double angle) {
  std::vector<Index> order(modes[0].size());
  std::iota(order.begin(), order.end(), Index{0});
  Mode combined(order.size());
  for (std::size_t n = 0; n < order.size(); ++n)
    combined[n] = std::cos(angle) * modes[0][n] + std::sin(angle) * modes[1][n];
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return combined[a] < combined[b]; });
  Mode out(order.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    out[order[place]] = 100 * static_cast<double>(place) / static_cast<double>(order.size());
  return out;
}

}  // namespace

ResultPairs best_swept_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                             const SearchContext& context) {
  const Neighbourhood near(problem);
  const std::uint64_t units_per_step = (near.operand_count() + 2 * near.label_count()) / 4;
  const auto steps =
      std::min(kMostSteps, static_cast<std::uint64_t>(kShareOfModes * static_cast<double>(budget.units)) /
                               (2 * units_per_step + 1));
  std::uint64_t work = 2 * steps * units_per_step;
  const auto units_per_sweep = (near.operand_count() + near.label_count()) * kUnitsPerPartOfSweep;
  auto last = units_per_sweep;
  if (problem.operands.size() < 3 || steps < kFewestSteps || work + last > budget.units) return start;

  // From one end to the other, and from one side of this line to the other.
  const auto first_end = near.distances_from(near.distances_from(0).second);
  const auto second_end = near.distances_from(first_end.second);
  Mode along(near.operand_count());
  Mode off(near.operand_count());
  for (std::size_t n = 0; n < along.size(); ++n) {
    along[n] = first_end.first[n] - second_end.first[n];
    off[n] = first_end.first[n] + second_end.first[n];
  }
  const auto side = static_cast<Index>(std::max_element(off.begin(), off.end()) - off.begin());
  WalkModes walk(near, context);
  walk.find(std::move(along), steps);
  walk.find(near.distances_from(side).first, steps);

  std::mt19937_64 random(5);
  BestPath best(problem, start, context);
  for (std::uint64_t round = 0; work + last <= budget.units; ++round) {
    const auto before = work;
    SweepRule rule;
    rule.place = places(walk.modes(), round == 0 ? 0 : 2 * std::numbers::pi * random_share(random));
    rule.price = std::exp2(kLeastLog2Price + random_share(random) * (kMostLog2Price - kLeastLog2Price));
    rule.noise = round % 2 == 0 ? 0 : kMostNoise * random_share(random);
    rule.seed = random();
    auto pairs = Sweep(near, rule, work, context).run();
    CHECK(pairs.size() + 1 == problem.operands.size(), "a sweep takes in all operands");
    work += units_per_sweep;
    last = work - before;
    best.offer(std::move(pairs));
  }
  return best.take();
}

}  // namespace eindb
