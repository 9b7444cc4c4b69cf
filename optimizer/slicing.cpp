#include "optimizer/slicing.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "optimizer/contraction_network.hpp"

namespace eindb {
namespace {

using Parts = std::vector<std::int64_t>;

// Sizes end here, so that their sums and products with slices stay finite.
constexpr double kHuge = 1e250;
// Work is counted in labels looked at: some tens of milliseconds.
constexpr double kMostWork = 1e7;
constexpr int kStarts = 8;
// Beyond this a loop has no end anyway, and its number of slices stays exact.
constexpr double kMostSlices = 1e15;

// Walks through a contraction in slices and keeps account of what is held.
class Account {
 public:
  Account(const SlicingProblem& problem, const Parts& parts, bool streamed)
      : problem_(problem), parts_(parts), streamed_(streamed) {
    for (const auto n : parts) slices_ *= static_cast<double>(n);
    find_loop();
  }

  std::size_t peak_step() const { return peak_step_; }

  Slicing run(std::vector<double>* moments) {
    moments_ = moments;
    Slicing out{parts_, streamed_, slices_, 0, 0, last_, {}};
    for (std::size_t n = 0; n < problem_.operands.size(); ++n)
      if (problem_.operands[n].stored_parts.empty()) held_ += operand_bytes(n);
    for (std::size_t s = 0; s < problem_.steps.size(); ++s) {
      out.flops += flops(s);
      if (in_body_[s]) out.body.push_back(s);
      if (!in_body_[s]) run_once(s);
      else if (s == last_) run_loop(out.body);
    }
    out.bytes = peak_;
    return out;
  }

 private:
  const SlicingProblem::Step* step_of(std::size_t result) const {
    return result < problem_.operands.size() ? nullptr : &problem_.steps[result - problem_.operands.size()];
  }
  bool sliced(std::size_t label) const { return parts_[label] > 1; }
  bool any_sliced(const std::vector<std::size_t>& labels) const {
    return std::any_of(labels.begin(), labels.end(), [&](std::size_t l) { return sliced(l); });
  }

  // A step depends on slices if it has a sliced label or reads one that does. A sliced label ends in the step that has
  // it and does not hand it on; the loop ends where the last of them has ended.
  void find_loop() {
    const auto& steps = problem_.steps;
    in_body_.assign(steps.size(), false);
    // Labels below a step that have ended, or are kept to the end, of all that are sliced.
    std::vector<std::size_t> ended(steps.size(), 0);
    std::size_t wanted = 0;
    for (std::size_t l = 0; l < parts_.size(); ++l) wanted += sliced(l) ? 1 : 0;
    last_ = steps.size() - 1;
    if (wanted == 0) return;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      in_body_[s] = any_sliced(steps[s].labels);
      for (const auto label : steps[s].labels) {
        const auto& kept = steps[s].kept;
        const bool ends = s + 1 == steps.size() || std::find(kept.begin(), kept.end(), label) == kept.end();
        if (sliced(label) && ends) ++ended[s];
      }
      for (const auto input : steps[s].inputs) {
        if (step_of(input) == nullptr) continue;
        ended[s] += ended[input - problem_.operands.size()];
        in_body_[s] = in_body_[s] || in_body_[input - problem_.operands.size()];
      }
      if (ended[s] < wanted) continue;
      last_ = s;
      std::fill(in_body_.begin() + static_cast<std::ptrdiff_t>(s) + 1, in_body_.end(), false);
      return;
    }
    CHECK(false, "every sliced label ends in a step");
  }

  double size(const std::vector<std::size_t>& labels) const {
    double elements = 1;
    for (const auto l : labels)
      elements *= static_cast<double>(sliced(l) ? ceil_divide(problem_.extents[l], parts_[l]) : problem_.extents[l]);
    return std::min(elements, kHuge);
  }
  double whole_size(const std::vector<std::size_t>& labels) const {
    double elements = 1;
    for (const auto l : labels) elements *= static_cast<double>(problem_.extents[l]);
    return std::min(elements, kHuge);
  }

  double flops(std::size_t s) const {
    const auto& step = problem_.steps[s];
    const double flops = whole_size(step.labels) * step.flops_per_cell;
    if (!in_body_[s]) return flops;
    double repetitions = slices_;
    for (const auto l : step.labels) repetitions /= static_cast<double>(parts_[l]);
    return flops * repetitions;
  }

  double operand_bytes(std::size_t n) const {
    return whole_size(problem_.operands[n].labels) * problem_.operands[n].element_bytes;
  }

  // The stored tiles that one slice overlaps.
  double tiles_bytes(std::size_t n) const {
    const auto& operand = problem_.operands[n];
    double elements = 1;
    for (std::size_t d = 0; d < operand.labels.size(); ++d) {
      const auto extent = problem_.extents[operand.labels[d]];
      const auto stored = operand.stored_parts[d];
      const auto slices = parts_[operand.labels[d]];
      const auto tile = ceil_divide(extent, stored);
      const auto slice = ceil_divide(extent, slices);
      const auto inside = slices % stored == 0 ? tile : stored % slices == 0 ? slice : slice + 2 * (tile - 1);
      elements *= static_cast<double>(std::min(extent, inside));
    }
    return elements * operand.element_bytes;
  }

  void at_once(std::size_t step, double bytes) {
    if (bytes > peak_) peak_ = bytes, peak_step_ = step;
    if (moments_ != nullptr) moments_->push_back(bytes);
  }

  double result_bytes(std::size_t s) const {
    return whole_size(problem_.steps[s].kept) * problem_.steps[s].element_bytes;
  }

  // What stands in memory of an input that is read as a whole.
  double input_bytes(std::size_t result) const {
    return step_of(result) == nullptr ? operand_bytes(result) : result_bytes(result - problem_.operands.size());
  }

  void run_once(std::size_t s) {
    for (const auto input : problem_.steps[s].inputs)
      if (step_of(input) == nullptr && !problem_.operands[input].stored_parts.empty()) held_ += operand_bytes(input);
    held_ += result_bytes(s);
    at_once(s, held_);
    for (const auto input : problem_.steps[s].inputs) held_ -= input_bytes(input);
  }

  bool is_streamed(std::size_t result) const {
    return streamed_ && step_of(result) == nullptr && !problem_.operands[result].stored_parts.empty() &&
           any_sliced(problem_.operands[result].labels);
  }

  void run_loop(const std::vector<std::size_t>& body) {
    const auto of_body = [&](std::size_t result) {
      return step_of(result) != nullptr && in_body_[result - problem_.operands.size()];
    };
    double after = held_;
    for (const auto s : body) {
      for (const auto input : problem_.steps[s].inputs) {
        if (of_body(input)) continue;
        const bool stored = step_of(input) == nullptr && !problem_.operands[input].stored_parts.empty();
        if (stored && !is_streamed(input)) held_ += operand_bytes(input);
        if (!stored) after -= input_bytes(input);
      }
    }
    held_ += result_bytes(last_);
    after += result_bytes(last_);
    double slice = 0;
    for (const auto s : body) {
      const auto& step = problem_.steps[s];
      double copies = 0;
      for (const auto input : step.inputs) {
        if (step_of(input) != nullptr || !any_sliced(problem_.operands[input].labels)) continue;
        copies += size(problem_.operands[input].labels) * problem_.operands[input].element_bytes;
        if (is_streamed(input)) copies += tiles_bytes(input);
      }
      const double result = size(step.kept) * step.element_bytes;
      at_once(s, held_ + slice + copies + result);
      slice += result;
      for (const auto input : step.inputs)
        if (of_body(input)) slice -= size(step_of(input)->kept) * step_of(input)->element_bytes;
    }
    held_ = after;
  }

  const SlicingProblem& problem_;
  const Parts& parts_;
  bool streamed_;
  double slices_ = 1;
  std::vector<bool> in_body_;
  std::size_t last_ = 0;
  double held_ = 0;
  double peak_ = 0;
  std::size_t peak_step_ = 0;
  std::vector<double>* moments_ = nullptr;
};

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
  Finder(const SlicingProblem& problem, double limit, double few_choices, bool streamed)
      : problem_(problem), limit_(limit), few_choices_(few_choices), streamed_(streamed) {
    for (std::size_t l = 0; l < problem.extents.size(); ++l)
      if (problem.sliceable[l] && problem.extents[l] > 1) labels_.push_back(l);
    for (const auto& step : problem.steps) work_per_account_ += static_cast<double>(step.labels.size() + 4);
    work_per_account_ += static_cast<double>(problem.extents.size());
  }

  Slicing run() {
    best_ = account(Parts(problem_.extents.size(), 1)).slicing;
    if (best_.bytes <= limit_) return best_;
    if (has_few_choices()) {
      try_all(0, best_.parts);
      return best_;
    }
    for (int start = 0; start < kStarts && (start == 0 || has_time()); ++start) {
      std::mt19937 random(static_cast<unsigned>(start));
      auto slicing = descend(Parts(problem_.extents.size(), 1), start == 0 ? 0 : 0.3, random);
      if (slicing.bytes <= limit_) slicing = improve(std::move(slicing));
      if (better(slicing, best_, limit_)) best_ = std::move(slicing);
    }
    return best_;
  }

 private:
  struct Valued {
    Slicing slicing;
    std::size_t peak_step = 0;
    double excess = 0;  // over the limit, added up over all moments: sinks also where the peak is reached twice
  };

  Valued account(const Parts& parts) {
    work_ += work_per_account_;
    std::vector<double> moments;
    Account account(problem_, parts, streamed_);
    Valued out{account.run(&moments), account.peak_step(), 0};
    for (const auto bytes : moments)
      if (bytes > limit_) out.excess += std::log(bytes / std::max(1.0, limit_));
    return out;
  }

  bool has_time() const { return work_ < kMostWork; }

  bool has_few_choices() const {
    double choices = 1;
    for (const auto l : labels_) choices *= static_cast<double>(ways_to_slice(problem_.extents[l]).size());
    return choices <= few_choices_ && choices * work_per_account_ <= kMostWork;
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

  // All labels, or where looking at all would take too long those of the step that needs the most memory.
  std::vector<std::size_t> candidates(const Valued& now) const {
    if (static_cast<double>(labels_.size()) * work_per_account_ <= kMostWork / 20) return labels_;
    auto labels = problem_.steps[now.peak_step].labels;
    std::erase_if(labels, [&](std::size_t l) { return !problem_.sliceable[l] || problem_.extents[l] < 2; });
    return labels;
  }

  // Cuts labels, `spared` apart, until the limit is met or nothing can be cut. `noise` makes starts differ.
  Slicing descend(const Parts& from, double noise, std::mt19937& random, std::optional<std::size_t> spared = {}) {
    auto now = account(from);
    while (now.slicing.bytes > limit_) {
      std::optional<Valued> next;
      double least = std::numeric_limits<double>::infinity();
      for (const auto l : candidates(now)) {
        auto parts = now.slicing.parts;
        parts[l] = finer(problem_.extents[l], parts[l]);
        if (l == spared || parts[l] == 0) continue;
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

  // Takes cuts back, or replaces those of one label by others, as long as that saves flops and keeps to the limit.
  Slicing improve(Slicing slicing) {
    std::mt19937 random(0);
    for (bool improved = true; improved && has_time();) {
      improved = false;
      for (const auto l : labels_) {
        if (slicing.parts[l] == 1 || !has_time()) continue;
        auto parts = slicing.parts;
        parts[l] = coarser(problem_.extents[l], parts[l]);
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
  const double few_choices_;
  const bool streamed_;
  std::vector<std::size_t> labels_;  // that can be sliced
  double work_per_account_ = 0;
  double work_ = 0;
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
    std::vector<std::size_t> labels;  // the network's are ascending
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

Slicing evaluate_slicing(const SlicingProblem& problem, std::vector<std::int64_t> parts, bool streamed) {
  return Account(problem, parts, streamed).run(nullptr);
}

std::vector<std::int64_t> ways_to_slice(std::int64_t extent) {
  std::vector<std::int64_t> ways{1};
  while (const auto next = finer(extent, ways.back())) ways.push_back(next);
  return ways;
}

// Operands are held as long as that leaves room: reading them once per slice costs time that flops do not tell.
Slicing find_slicing(const SlicingProblem& problem, double limit, double few_choices) {
  auto held = Finder(problem, limit, few_choices, false).run();
  const bool fits = held.bytes <= limit;
  if ((fits && held.slices == 1) || !has_stored_operand(problem)) return held;
  constexpr double kWorthHolding = 1.25;
  auto streamed = Finder(problem, limit, few_choices, true).run();
  if (fits && held.flops <= kWorthHolding * streamed.flops) return held;
  return better(streamed, held, limit) ? streamed : held;
}

}  // namespace eindb
