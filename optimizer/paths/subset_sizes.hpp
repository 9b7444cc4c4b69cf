#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/check.hpp"
#include "optimizer/paths/contraction_path.hpp"

namespace eindb {

/// Sizes of the contractions of subsets of up to 64 operands, hyperedges and labels of the output included.
///
/// For a subset S, let T(S) be the product of the extents of all labels that occur in it, and W(S) that of the labels
/// summed within it, which occur neither outside S nor in the output, if S has at least two operands. The result of S
/// then has T(S) / W(S) elements, and the join of S1 with S2, over every label that neither has summed, has
///
///     T(S1 u S2) / (W(S1) W(S2))
///
/// cells. So an algorithm over subsets needs T and W once per subset, and no labels per pair.
/// Example: A[i,j] B[j,k] C[k,m]: W(AB) = |j|, T(ABC) = |i j k m|, joining AB with C takes |i k m| cells.
///
/// An extent of 0 counts as 1: such a contraction computes nothing. T may reach 2^(63 * 64), far beyond a double; hence
/// the long doubles.
class SubsetSizes {
 public:
  using Set = std::uint64_t;  ///< bit n: operand n
  struct Size {
    long double all = 1;     ///< T
    long double summed = 1;  ///< W
    int summed_count = 0;    ///< number of labels in W; labels with the same operands count as one

    double kept() const { return static_cast<double>(all / summed); }
  };

  explicit SubsetSizes(const ContractionProblem& problem);

  /// The sizes of one subset; linear in the labels.
  Size of(Set set) const;
  /// The sizes of every subset of fewer than 32 operands, indexed by its bits. Each takes time in the labels of its
  /// lowest operand alone.
  std::vector<Size> of_all() const;
  /// Operands that share a label with operand n, n included.
  Set neighbours(std::size_t n) const {
    DCHECK(n < neighbours_.size(), "operands are numbered from 0");
    return neighbours_[n];
  }

  /// The flops of joining a with b to `whole`: one multiplication per cell, and one addition if a label is summed.
  static long double flops(const Size& whole, const Size& a, const Size& b) {
    const bool sums = whole.summed_count > a.summed_count + b.summed_count;
    return whole.all / (a.summed * b.summed) * (sums ? 2 : 1);
  }

 private:
  struct LabelUse {
    Set holders = 0;
    long double extent = 1;
    bool in_output = false;
  };

  void unite_alike();

  std::vector<LabelUse> labels_;
  std::vector<Set> neighbours_;
};

}  // namespace eindb
