#include "executor/step_order.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "common/check.hpp"

namespace eindb {
namespace {

// What a rank computes and receives in a second, about. Only their ratio matters.
constexpr double kPointsPerSecond = 2e10;
constexpr double kBytesPerSecond = 1e9;

bool is_move(const PlanStep& step) {
  return std::holds_alternative<RedistributeStep>(step.op) || std::holds_alternative<ReduceStep>(step.op);
}

double seconds_of(const PhysicalPlan& plan, const ComputeStep& compute) {
  const auto& labels = compute.join.partition.labels;
  double points = 1;
  for (std::size_t n = 0; n < labels.size(); ++n)
    points *= static_cast<double>(plan.labels.extent(labels[n])) / static_cast<double>(compute.blocks[n]);
  return points / kPointsPerSecond;
}

double seconds_of(const PhysicalPlan& plan, StepId move) {
  return elements_at_rank(plan, move) * static_cast<double>(size_of(plan.step(move).dtype)) / kBytesPerSecond;
}

// Finds after which computation each move begins. Computations are numbered in the order of the plan, from 0 on.
class MoveSlots {
 public:
  explicit MoveSlots(const PhysicalPlan& plan)
      : plan_(plan), needs_(plan.steps.size(), -1), needed_by_(plan.steps.size()), slots_(plan.steps.size(), -1) {
    find_needs();
    find_needed();
    find_slots();
  }

  std::ptrdiff_t slot(StepId move) const { return slots_[move.index()]; }
  /// Whether the move can travel while the computation of its slot runs.
  bool is_beside(StepId move) const { return needs_[move.index()] < slots_[move.index()]; }

 private:
  // The last computation that each step depends on, or is; -1: none.
  void find_needs() {
    for (std::size_t n = 0; n < plan_.steps.size(); ++n) {
      for (const auto input : inputs_of(plan_.steps[n])) needs_[n] = std::max(needs_[n], needs_[input.index()]);
      needed_by_[n] = static_cast<std::ptrdiff_t>(seconds_.size());
      const auto* compute = std::get_if<ComputeStep>(&plan_.steps[n].op);
      if (compute == nullptr) continue;
      needs_[n] = static_cast<std::ptrdiff_t>(seconds_.size());
      seconds_.push_back(seconds_of(plan_, *compute));
    }
  }

  // The first computation that depends on each step; of those that none depends on, the next one in the plan.
  void find_needed() {
    std::vector<std::ptrdiff_t> first(plan_.steps.size(), static_cast<std::ptrdiff_t>(seconds_.size()));
    std::vector<char> is_read(plan_.steps.size(), 0);
    for (std::size_t n = plan_.steps.size(); n-- > 0;) {
      const bool computes = std::holds_alternative<ComputeStep>(plan_.steps[n].op);
      if (!computes && is_read[n] != 0) needed_by_[n] = first[n];
      for (const auto input : inputs_of(plan_.steps[n])) {
        is_read[input.index()] = 1;
        first[input.index()] = std::min(first[input.index()], needed_by_[n]);
      }
    }
  }

  void find_slots() {
    for (std::size_t n = 0; n < plan_.steps.size(); ++n) {
      const auto& step = plan_.steps[n];
      if (!is_move(step)) continue;
      slots_[n] = step.cells ? needed_by_[n] - 1 : slot_in_time(StepId(n));
      for (const auto input : inputs_of(step)) slots_[n] = std::max(slots_[n], slots_[input.index()]);
      CHECK(slots_[n] >= needs_[n] && slots_[n] < needed_by_[n],
            "a move is made when its input is there, and before its result is read");
    }
  }

  // Begins beside the latest computation from which on the move has time to travel.
  std::ptrdiff_t slot_in_time(StepId move) {
    const auto needs = needs_[move.index()];
    auto slot = needed_by_[move.index()] - 1;
    if (slot <= needs) return needs;
    auto seconds = seconds_of(plan_, move);
    for (; slot > needs + 1 && left(slot) < seconds; --slot) {
      seconds -= left(slot);
      left(slot) = 0;
    }
    left(slot) = std::max(0.0, left(slot) - seconds);
    return slot;
  }

  // The seconds of a computation beside which nothing travels so far.
  double& left(std::ptrdiff_t computation) { return seconds_[static_cast<std::size_t>(computation)]; }

  const PhysicalPlan& plan_;
  std::vector<double> seconds_;            // by computation
  std::vector<std::ptrdiff_t> needs_;      // by step
  std::vector<std::ptrdiff_t> needed_by_;  // by step
  std::vector<std::ptrdiff_t> slots_;      // by step
};

}  // namespace

double elements_at_rank(const PhysicalPlan& plan, StepId step) {
  const auto& made = plan.step(step);
  double elements = 1;
  for (const auto extent : made.grid.shape().extents()) elements *= static_cast<double>(extent);
  const auto* blocks = std::get_if<BlockPlacement>(&made.placement);
  if (blocks == nullptr) return elements / static_cast<double>(plan.ranks);
  for (const auto parts : blocks->parts) elements /= static_cast<double>(parts);
  return elements;
}

StepOrder step_order(const PhysicalPlan& plan) {
  const MoveSlots slots(plan);
  // Computation n is at (n, 0), moves of slot n behind it: first those that travel beside it. Scans come first.
  using Place = std::tuple<std::ptrdiff_t, int, std::size_t>;
  std::vector<Place> places;
  std::ptrdiff_t computations = 0;
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    const StepId id(n);
    if (is_move(plan.steps[n])) places.emplace_back(slots.slot(id), slots.is_beside(id) ? 1 : 2, n);
    else if (std::holds_alternative<ComputeStep>(plan.steps[n].op)) places.emplace_back(computations++, 0, n);
    else places.emplace_back(-2, 0, n);
  }
  std::sort(places.begin(), places.end());
  StepOrder order;
  for (const auto& [slot, kind, n] : places) {
    order.steps.emplace_back(n);
    if (is_move(plan.steps[n]) && kind == 1 && !plan.steps[n].cells) order.overlapped.emplace_back(n);
  }
  return order;
}

}  // namespace eindb
