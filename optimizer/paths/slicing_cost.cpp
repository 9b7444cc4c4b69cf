#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "optimizer/paths/slicing.hpp"

namespace eindb {
namespace {

// Sizes are capped, so that their sums and products with slices stay finite.
constexpr double kHuge = 1e250;

// Walks through a sliced contraction and adds up the bytes held.
class Account {
 public:
  Account(const SlicingProblem& problem, const std::vector<std::int64_t>& parts, bool streamed, SlicingMoments& moments)
      : problem_(problem), parts_(parts), streamed_(streamed), moments_(moments) {
    CHECK(parts.size() == problem.extents.size(), "every label has a number of parts");
    DCHECK(std::all_of(parts.begin(), parts.end(), [](auto n) { return n > 0; }),
           "a label is cut into one part at least");
    for (const auto n : parts) slices_ *= static_cast<double>(n);
    find_loop();
  }

  Slicing run() {
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

  // A step depends on slices if it has a sliced label or reads a step that depends on them. A sliced label ends in the
  // step that has it and does not keep it. The loop ends at the step where the last sliced label has ended.
  void find_loop() {
    const auto& steps = problem_.steps;
    in_body_.assign(steps.size(), false);
    // For each step, the sliced labels that have ended at or below it, or that are kept to the end.
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
        DCHECK(input < problem_.operands.size() + s, "a step reads operands and steps before it");
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

  // The bytes of the stored tiles that one slice overlaps.
  double tiles_bytes(std::size_t n) const {
    const auto& operand = problem_.operands[n];
    double elements = 1;
    CHECK(operand.stored_parts.size() == operand.labels.size(), "a stored operand is cut along each of its labels");
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
    if (bytes > peak_) {
      peak_ = bytes;
      moments_.peak_step = step;
    }
    moments_.bytes.push_back(bytes);
  }

  double result_bytes(std::size_t s) const {
    return whole_size(problem_.steps[s].kept) * problem_.steps[s].element_bytes;
  }

  // The bytes in memory of an input that is read as a whole.
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
    CHECK(!body.empty() && body.back() == last_, "a loop over slices ends in its last step");
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
  const std::vector<std::int64_t>& parts_;
  bool streamed_;
  double slices_ = 1;
  std::vector<bool> in_body_;
  std::size_t last_ = 0;
  double held_ = 0;
  double peak_ = 0;
  SlicingMoments& moments_;
};

}  // namespace

Slicing evaluate_slicing(const SlicingProblem& problem, const std::vector<std::int64_t>& parts, bool streamed,
                         SlicingMoments* moments) {
  SlicingMoments own;
  return Account(problem, parts, streamed, moments != nullptr ? *moments : own).run();
}

}  // namespace eindb
