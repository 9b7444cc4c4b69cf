#include "optimizer/paths/slicing.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "optimizer/paths/contraction_network.hpp"

namespace eindb {
namespace {

using Parts = std::vector<std::int64_t>;

constexpr int kStarts = 8;
// The cuts that a descent is expected to make, for dividing the work among them.
constexpr double kExpectedCuts = 40;
// A loop with more slices would never end, and up to this number the count stays exact.
constexpr double kMostSlices = 1e15;

// The next finer, or coarser, way to slice a label; 0 if there is none.
std::int64_t finer(std::int64_t extent, std::int64_t parts) {
  return parts >= extent ? 0 : std::min(2 * parts, extent);
}
std::int64_t coarser(std::int64_t extent, std::int64_t parts) {
  if (parts <= 1) return 0;
  std::int64_t below = 1;
  while (2 * below < parts && 2 * below < extent) below *= 2;
  return below;
}

bool better(const Slicing& a, const Slicing& b, double limit) {
  const bool fits = a.bytes <= limit;
  if (fits != (b.bytes <= limit)) return fits;
  if (!fits) return a.bytes < b.bytes;
  return a.flops < b.flops || (a.flops == b.flops && a.slices < b.slices);
}

class Finder {
 public:
  Finder(const SlicingProblem& problem, double limit, const SlicingEffort& effort, bool streamed)
      : problem_(problem), limit_(limit), effort_(effort), streamed_(streamed) {
    CHECK(problem.sliceable.size() == problem.extents.size(), "of every label it is known whether it may be sliced");
    for (std::size_t l = 0; l < problem.extents.size(); ++l)
      if (problem.sliceable[l] && problem.extents[l] > 1) labels_.push_back(l);
    for (const auto& step : problem.steps) work_per_account_ += static_cast<double>(step.labels.size() + 4);
    work_per_account_ += static_cast<double>(problem.extents.size());
  }

  Slicing run() {
    best_ = account(Parts(problem_.extents.size(), 1)).slicing;
    if (best_.bytes <= limit_ || is_hopeless()) return best_;
    if (has_few_choices()) {
      try_all(0, best_.parts);
      return best_;
    }
    for (int start = 0; start < kStarts && (start == 0 || has_time()); ++start) {
      std::mt19937 random(static_cast<unsigned>(start));
      is_first_ = start == 0;
      auto slicing = descend(Parts(problem_.extents.size(), 1), is_first_ ? 0 : 0.3, random);
      is_first_ = false;
      if (slicing.bytes <= limit_) slicing = improve(std::move(slicing));
      if (better(slicing, best_, limit_)) best_ = std::move(slicing);
    }
    return best_;
  }

 private:
  struct Valued {
    Slicing slicing;
    std::size_t peak_step = 0;
    double excess = 0;  // bytes over the limit, summed over all moments, so that it falls even if the peak occurs twice
  };

  Valued account(const Parts& parts) {
    work_ += work_per_account_;
    poll_cancellation_after(static_cast<std::size_t>(work_per_account_));
    SlicingMoments moments;
    Valued out{evaluate_slicing(problem_, parts, streamed_, &moments), moments.peak_step, 0};
    for (const auto bytes : moments.bytes)
      if (bytes > limit_) out.excess += std::log(bytes / std::max(1.0, limit_));
    return out;
  }

  bool has_time() const { return work_ < effort_.work; }

  // Slices divide what is held by their number at most.
  bool is_hopeless() const { return best_.bytes > limit_ * kMostSlices; }

  bool has_few_choices() const {
    double choices = 1;
    for (const auto l : labels_) choices *= static_cast<double>(ways_to_slice(problem_.extents[l]).size());
    return choices <= effort_.few_choices && choices * work_per_account_ <= effort_.work;
  }

  void try_all(std::size_t n, Parts parts) {
    if (n == labels_.size()) {
      auto slicing = account(parts).slicing;
      if (better(slicing, best_, limit_)) best_ = std::move(slicing);
      return;
    }
    for (const auto ways : ways_to_slice(problem_.extents[labels_[n]])) {
      parts[labels_[n]] = ways;
      try_all(n + 1, parts);
    }
  }

  // All labels; if examining all takes too long, as many as there is time for, the most promising ones.
  std::vector<std::size_t> candidates(const Valued& now) const {
    const double most = effort_.work / (kExpectedCuts * work_per_account_);
    if (static_cast<double>(labels_.size()) <= most) return labels_;
    const auto relief = reliefs(now.slicing.parts);
    auto labels = labels_;
    std::erase_if(labels, [&](std::size_t l) { return relief[l] <= 0 || now.slicing.parts[l] >= problem_.extents[l]; });
    const auto count = std::min(labels.size(), static_cast<std::size_t>(std::max(1.0, most)));
    std::partial_sort(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(count), labels.end(),
                      [&](auto a, auto b) { return std::pair(-relief[a], a) < std::pair(-relief[b], b); });
    labels.resize(count);
    return labels;
  }

  // By label: an estimate of how much a cut helps. Sums over the results that have the label how far they are from a
  // share of the limit.
  std::vector<double> reliefs(const Parts& parts) const {
    constexpr double kShare = 4;  // as many results are held at once
    std::vector<double> log2_extents(parts.size());
    for (std::size_t l = 0; l < parts.size(); ++l)
      log2_extents[l] =
          std::log2(std::max(1.0, static_cast<double>(problem_.extents[l]) / static_cast<double>(parts[l])));
    std::vector<double> out(parts.size(), 0);
    for (const auto& step : problem_.steps) {
      double excess = std::log2(kShare * step.element_bytes / std::max(1.0, limit_));
      for (const auto l : step.kept) excess += log2_extents[l];
      if (excess <= 0) continue;
      for (const auto l : step.kept) out[l] += excess;
    }
    return out;
  }

  // Cuts labels except `spared` until the limit is met, nothing can be cut, or there is no time, which the first
  // descent always has. `noise` makes the starts differ.
  Slicing descend(const Parts& from, double noise, std::mt19937& random, std::optional<std::size_t> spared = {}) {
    auto now = account(from);
    while (now.slicing.bytes > limit_ && (is_first_ || has_time())) {
      std::optional<Valued> next;
      double least = std::numeric_limits<double>::infinity();
      for (const auto l : candidates(now)) {
        auto parts = now.slicing.parts;
        parts[l] = finer(problem_.extents[l], parts[l]);
        if (l == spared || parts[l] == 0) continue;
        DCHECK(parts[l] <= problem_.extents[l], "a label is cut into as many parts as it has indices at most");
        auto tried = account(parts);
        if (tried.slicing.slices > kMostSlices) continue;
        const double gain = now.excess - tried.excess;
        const double price = std::log(tried.slicing.flops / now.slicing.flops) + 1e-3;
        double value = gain > 0 ? price / gain : std::numeric_limits<double>::max();
        if (noise > 0) value *= std::exp(noise * std::normal_distribution<double>()(random));
        if (!next || value < least) next = std::move(tried), least = value;
      }
      if (!next) break;
      now = std::move(*next);
    }
    return now.slicing;
  }

  // Takes cuts back, or replaces the cuts of one label by those of another, as long as that saves flops within the
  // limit.
  Slicing improve(Slicing slicing) {
    std::mt19937 random(0);
    for (bool improved = true; improved && has_time();) {
      improved = false;
      for (const auto l : labels_) {
        if (slicing.parts[l] == 1 || !has_time()) continue;
        auto parts = slicing.parts;
        parts[l] = coarser(problem_.extents[l], parts[l]);
        DCHECK(parts[l] > 0 && parts[l] < slicing.parts[l], "a cut that is taken back leaves fewer parts");
        improved = take_if_better(account(parts).slicing, slicing) || improved;
        parts[l] = 1;
        improved = take_if_better(descend(parts, 0, random, l), slicing) || improved;
      }
    }
    return slicing;
  }

  bool take_if_better(Slicing tried, Slicing& slicing) const {
    if (tried.bytes > limit_ || !better(tried, slicing, limit_)) return false;
    slicing = std::move(tried);
    return true;
  }

  const SlicingProblem& problem_;
  const double limit_;
  const SlicingEffort effort_;
  const bool streamed_;
  std::vector<std::size_t> labels_;  // the labels that may be sliced
  double work_per_account_ = 0;
  double work_ = 0;
  bool is_first_ = false;  // descent
  Slicing best_;
};

bool has_stored_operand(const SlicingProblem& problem) {
  return std::any_of(problem.operands.begin(), problem.operands.end(),
                     [](const auto& operand) { return !operand.stored_parts.empty(); });
}

}  // namespace

SlicingProblem slicing_problem(const ContractionProblem& problem, const ContractionPath& path, double element_bytes) {
  SlicingProblem out{problem.extents, std::vector<bool>(problem.extents.size(), false), {}, {}};
  ContractionNetwork network(problem);
  for (const auto& operand : problem.operands) out.operands.push_back({operand, element_bytes});
  for (const auto& [a, b] : results_of_path(problem.operands.size(), path.steps)) {
    std::vector<std::size_t> labels;  // sorted, as the network requires
    std::set_union(network.labels(a).begin(), network.labels(a).end(), network.labels(b).begin(),
                   network.labels(b).end(), std::back_inserter(labels));
    const auto cells = std::accumulate(labels.begin(), labels.end(), 1.0, [&](double size, std::size_t label) {
      return size * static_cast<double>(problem.extents[label]);
    });
    for (const auto label : labels) out.sliceable[label] = true;
    const auto flops = network.flops(a, b);
    const auto kept = network.labels(network.contract(a, b));
    out.steps.push_back({{a, b}, std::move(labels), kept, element_bytes, cells > 0 ? flops / cells : 0});
  }
  return out;
}

std::vector<std::int64_t> ways_to_slice(std::int64_t extent) {
  std::vector<std::int64_t> ways{1};
  while (const auto next = finer(extent, ways.back())) ways.push_back(next);
  return ways;
}

// Operands are held if there is room: reading them once per slice takes time that flops do not show.
Slicing find_slicing(const SlicingProblem& problem, double limit, const SlicingEffort& effort) {
  auto held = Finder(problem, limit, effort, false).run();
  const bool fits = held.bytes <= limit;
  if ((fits && held.slices == 1) || !has_stored_operand(problem)) return held;
  constexpr double kWorthHolding = 1.25;
  auto streamed = Finder(problem, limit, effort, true).run();
  if (fits && held.flops <= kWorthHolding * streamed.flops) return held;
  return better(streamed, held, limit) ? streamed : held;
}

}  // namespace eindb
