#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimizer/paths/contraction_path.hpp"

namespace eindb {

/// A tree of contractions in the order of computation, on plain values, that is to be computed in slices. Labels are
/// numbers into `extents`; results are numbered as in ResultPairs, operands first. Every operand and step but the last
/// is read by one later step.
struct SlicingProblem {
  struct Operand {
    std::vector<std::size_t> labels;  ///< one per dimension
    double element_bytes = 8;
    /// Read from storage when it is needed, in the tiles of this partition; empty: in memory from the start on.
    std::vector<std::int64_t> stored_parts = {};
  };
  struct Step {
    std::vector<std::size_t> inputs;  ///< results
    std::vector<std::size_t> labels;  ///< all, distinct
    std::vector<std::size_t> kept;    ///< those of its result, in no order
    double element_bytes = 8;
    double flops_per_cell = 2;
  };

  std::vector<std::int64_t> extents;
  /// Labels that may be sliced: each is kept by every step that has it but one, its last; no other label is.
  std::vector<bool> sliceable;
  std::vector<Operand> operands;
  std::vector<Step> steps;
};

/// The contraction along a path, all operands in memory.
SlicingProblem slicing_problem(const ContractionProblem& problem, const ContractionPath& path,
                               double element_bytes = 8);

/// What computing a SlicingProblem in slices costs. `parts` has an entry per label: 1 where it is not sliced.
///
/// The loop over the slices ends in the step below which all sliced labels are dealt with (its result adds up what
/// slices give, or is filled part by part). Of the steps below it those run once per slice that depend on a sliced
/// label; all other steps run once. A slice holds its share of the results that it makes, each until it is read, and
/// copies of its share of the operands it reads. The result of the loop is held as a whole all along, and so is what
/// the slices share; operands that are stored and have a sliced label are read anew by every slice, if that is
/// `streamed`.
struct Slicing {
  std::vector<std::int64_t> parts;
  bool streamed = false;
  double slices = 1;
  double flops = 0;
  double bytes = 0;               ///< the most that is held at once
  std::size_t last = 0;           ///< the step that ends the loop
  std::vector<std::size_t> body;  ///< steps that run once per slice, ascending; ends in `last`
};

/// What is held at one moment after the other, and the step at which it is the most.
struct SlicingMoments {
  std::vector<double> bytes;
  std::size_t peak_step = 0;
};
Slicing evaluate_slicing(const SlicingProblem& problem, const std::vector<std::int64_t>& parts, bool streamed = false,
                         SlicingMoments* moments = nullptr);

/// The parts that a label may be sliced into: powers of two, and its extent; 1 first.
std::vector<std::int64_t> ways_to_slice(std::int64_t extent);

/// Slices that need at most `limit` bytes for few flops; the same for the same problem. Tries every choice where there
/// are few; otherwise cuts one label at a time, each time the one that costs the least for what it brings nearer the
/// limit, and then looks for a cut to take back or to replace by another, from several starts. If nothing meets the
/// limit, the slicing of the least bytes found. Stored operands are streamed where holding them meets no limit or costs
/// a quarter more flops.
///
/// Example: A[i,j] B[j,k] C[k,i] with extents 64 and the path (A B) C, 3 * 64^2 elements of operands included, takes
/// i, or k, in 2 parts if one of 4 * 64^2 elements is too much.
Slicing find_slicing(const SlicingProblem& problem, double limit, double few_choices = 4096);

}  // namespace eindb
