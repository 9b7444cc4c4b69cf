#pragma once

#include <functional>

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/slicing.hpp"

namespace eindb {

/// The better of `path` and of paths found for the contraction of one slice. The best path of a whole contraction need
/// not be the best once labels are cut, and the best labels to cut depend on the path. So two steps alternate as long
/// as they improve: slices for the best path so far (optimizer/paths/slicing), then a path for the extents of one
/// slice. A path is better if it computes the whole in `limit` bytes with fewer flops, or, if none fits, in fewer
/// bytes.
///
/// Returns `path` if it keeps to the limit unsliced. `find` finds a path for a problem, ignoring memory; it is called
/// kMostSlicedPaths times at most.
ContractionPath path_for_limit(const ContractionProblem& problem, ContractionPath path, double limit,
                               const std::function<ContractionPath(const ContractionProblem&)>& find,
                               const SlicingEffort& effort = {}, double element_bytes = 8);

inline constexpr int kMostSlicedPaths = 3;

/// Whether the path, with what waits beside its largest result, may need slices to keep to `limit`.
bool may_exceed(const ContractionPath& path, double limit, double element_bytes = 8);

}  // namespace eindb
