#include "optimizer/paths/sliced_path.hpp"

#include <utility>

#include "common/check.hpp"
#include "tensor/partition.hpp"

namespace eindb {
namespace {

// Two operands of a step, its result, and a waiting result.
constexpr double kResultsAtOnce = 4;

ContractionProblem one_slice(ContractionProblem problem, const Slicing& slicing) {
  CHECK(slicing.parts.size() == problem.extents.size(), "a slicing has an entry per label");
  for (std::size_t l = 0; l < problem.extents.size(); ++l)
    if (slicing.parts[l] > 1) problem.extents[l] = largest_part(problem.extents[l], slicing.parts[l]);
  return problem;
}

bool is_better(const Slicing& a, const Slicing& b, double limit) {
  const bool fits = a.bytes <= limit;
  if (fits != (b.bytes <= limit)) return fits;
  return fits ? a.flops < b.flops : a.bytes < b.bytes;
}

}  // namespace

bool may_exceed(const ContractionPath& path, double limit, double element_bytes) {
  return path.largest_intermediate * element_bytes * kResultsAtOnce > limit;
}

ContractionPath path_for_limit(const ContractionProblem& problem, ContractionPath path, double limit,
                               const std::function<ContractionPath(const ContractionProblem&)>& find,
                               const SlicingEffort& effort, double element_bytes) {
  if (!may_exceed(path, limit, element_bytes)) return path;
  auto slicing = find_slicing(slicing_problem(problem, path, element_bytes), limit, effort);
  for (int turn = 0; turn < kMostSlicedPaths && slicing.slices > 1; ++turn) {
    const auto found = find(one_slice(problem, slicing));
    auto other = path_of_results(problem, results_of_path(problem.operands.size(), found.steps));
    auto other_slicing = find_slicing(slicing_problem(problem, other, element_bytes), limit, effort);
    if (!is_better(other_slicing, slicing, limit)) break;
    path = std::move(other);
    slicing = std::move(other_slicing);
  }
  return path;
}

}  // namespace eindb
