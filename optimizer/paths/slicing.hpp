#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimizer/paths/contraction_path.hpp"

namespace eindb {

/// A tree of contractions to be computed in slices, on plain values, in the order of computation. Labels are indices
/// into `extents`; results are numbered as in ResultPairs, operands first. Every operand, and every step but the last,
/// is read by exactly one later step.
struct SlicingProblem {
  struct Operand {
    std::vector<std::size_t> labels;  ///< one per dimension
    double element_bytes = 8;
    /// If set, the operand is read from storage when needed, in tiles of this partition; if empty, it is in memory
    /// throughout.
    std::vector<std::int64_t> stored_parts = {};
  };
  struct Step {
    std::vector<std::size_t> inputs;  ///< numbers of results
    std::vector<std::size_t> labels;  ///< all, distinct
    std::vector<std::size_t> kept;    ///< labels of its result, in any order
    double element_bytes = 8;
    double flops_per_cell = 2;
  };

  std::vector<std::int64_t> extents;
  /// Labels that may be sliced: each is kept by every step that has it except one, the last; other labels must not be
  /// sliced.
  std::vector<bool> sliceable;
  std::vector<Operand> operands;
  std::vector<Step> steps;
};

/// The contraction along a path, all operands in memory.
SlicingProblem slicing_problem(const ContractionProblem& problem, const ContractionPath& path,
                               double element_bytes = 8);

/// The cost of computing a SlicingProblem in slices. `parts` has an entry per label: 1 if the label is not sliced.
///
/// The loop over the slices ends with the step below which every sliced label has ended; its result adds up the slices,
/// or is filled part by part. Steps below it run once per slice if they depend on a sliced label; all other steps run
/// once. A slice holds its share of the results that it makes, each until it is read, and copies of its share of the
/// operands it reads. The loop's whole result, and everything that the slices share, is held throughout. With
/// `streamed`, every slice reads stored operands that have a sliced label again.
struct Slicing {
  std::vector<std::int64_t> parts;
  bool streamed = false;
  double slices = 1;
  double flops = 0;
  double bytes = 0;               ///< the most bytes held at once
  std::size_t last = 0;           ///< the step that ends the loop
  std::vector<std::size_t> body;  ///< steps that run once per slice, ascending; ends in `last`
};

/// The bytes held at each moment, and the step with the most.
struct SlicingMoments {
  std::vector<double> bytes;
  std::size_t peak_step = 0;
};
Slicing evaluate_slicing(const SlicingProblem& problem, const std::vector<std::int64_t>& parts, bool streamed = false,
                         SlicingMoments* moments = nullptr);

/// The parts that a label may be sliced into: powers of two, and its extent; 1 first.
std::vector<std::int64_t> ways_to_slice(std::int64_t extent);

/// The work that a search for slices may do, counted so that a plan does not depend on the machine.
struct SlicingEffort {
  double few_choices = 4096;  ///< up to so many ways to slice are all tried
  double work = 1e7;          ///< labels looked at: some tens of milliseconds. A first way is found whatever it takes
};

/// Slices that need at most `limit` bytes with few flops. Deterministic. If there are few choices, all are tried.
/// Otherwise labels are cut one at a time, each time the one with the best ratio of flops added to excess removed; then
/// cuts are taken back or replaced by others where that helps, from several starts. If nothing meets the limit, the
/// slicing with the fewest bytes found; where no countable number of slices could, none. Stored operands are streamed
/// if holding them cannot meet the limit or costs a quarter more flops.
///
/// Example: A[i,j] B[j,k] C[k,i] with extents 64 and the path (A B) C needs 4 * 64^2 elements, 3 * 64^2 of them for
/// operands. If that is too much, i or k is cut in 2 parts.
Slicing find_slicing(const SlicingProblem& problem, double limit, const SlicingEffort& effort = {});

}  // namespace eindb
