#pragma once

#include <functional>

#include "optimizer/paths/contraction_path.hpp"

namespace eindb {

/// The better of `path` and paths that are found for the contraction of one slice: a path that is best for a whole
/// contraction need not be so once labels are cut, and the labels that are best to cut depend on the path. Takes turns
/// as long as that helps: slices for the best path so far (optimizer/paths/slicing), then a path for the extents of one
/// slice. Better is what computes the whole in `limit` bytes with fewer flops, or else in fewer bytes.
///
/// `path` itself if it keeps to the limit unsliced. `find` finds a path for a problem without regard to memory.
ContractionPath path_for_limit(const ContractionProblem& problem, ContractionPath path, double limit,
                               const std::function<ContractionPath(const ContractionProblem&)>& find,
                               double element_bytes = 8);

}  // namespace eindb
