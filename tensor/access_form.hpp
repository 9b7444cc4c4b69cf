#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tensor/einsum.hpp"
#include "tensor/label.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// The value of an index operand that stands for an index out of bounds: a call that meets it throws. Where an operand
/// has several indices, the n-th of which is out of bounds, its value is this plus n.
inline constexpr std::int64_t kIndexOutOfBounds = std::numeric_limits<std::int64_t>::min();
/// All values below are out of bounds.
inline constexpr std::int64_t kLeastPackedIndices = kIndexOutOfBounds + 64;

/// A label whose index other labels determine: by an affine function of theirs, or by an element of an INT64 operand.
struct DeterminedLabel {
  Label label;
  std::optional<std::size_t> operand = {};  ///< the operand that has the index, alone or in some bits of its elements
  std::int64_t shift = 0;                   ///< then: the index is element >> shift & mask
  std::int64_t mask = -1;
  std::vector<std::pair<Label, std::int64_t>> coefficients = {};  ///< otherwise: distinct labels, none zero
  std::int64_t offset = 0;

  std::int64_t index_in(std::int64_t element) const { return element >> shift & mask; }
  /// The least and the greatest index that labels with these ranges determine, by an affine function; nullopt beyond
  /// 64 bits.
  std::optional<std::pair<std::int64_t, std::int64_t>> bounds(const Labels& labels,
                                                              std::span<const PartRange> ranges) const;
};

/// SUM over cells of an operand, of those alone in which some labels have the index that the others determine. In each
/// such cell the operand is read, or added, at computed indices. The other labels are free.
///
///     Z[i,j] = SUM[a](CASE WHEN a = 2 * i + 1 THEN X[a,j] ELSE 0 END)     X[2 * i + 1, j]
///     Z[b,d] = SUM[a](CASE WHEN a = T[b] THEN E[a,d] ELSE 0 END)         a gather, E[T[b], d]
///     Z[a,d] = SUM[b](CASE WHEN a = T[b] THEN G[b,d] ELSE 0 END)         its derivative, a scatter
///     Z[b] = SUM[a,d](CASE WHEN a = T[b] >> 8 AND d = T[b] & 255 THEN E[a,d] ELSE 0 END)     two indices in one
///     operand
struct AccessForm {
  std::size_t source = 0;  ///< the number of the operand that is read
  std::vector<DeterminedLabel> determined;

  bool determines(Label label) const;
  /// Whether an operand has some of the indices.
  bool gathers() const;
};

/// nullopt for any other EinSum.
std::optional<AccessForm> access_form(const EinSum& einsum);

/// The operand with the indices of an access whose result consists of rows of its source, each element of which tells
/// where one of them is: all aggregated labels are determined, by that operand. Nullopt for any other access.
std::optional<std::size_t> operand_of_rows(const AccessForm& form, const EinSum& einsum);

/// Two labels of an access of which equal parts belong together: `label` has the index span * major + rest, where the
/// other labels behind it give the rest, 0 <= rest < span. If both are cut into as many parts, and these divide the
/// extent of `major`, then each part of one has cells with a single part of the other only, given that `label` has
/// `extent` indices: fewer are filled up with zeros, more are left out.
///
///     B[b,r,j] = X[100 * b + r, j]            a label is split: b cuts the rows of X where its parts begin
///     Y[i,j] = B[i / 100, i % 100, j]         labels are merged
struct AlignedLabels {
  Label label;
  Label major;
  std::int64_t extent = 0;  ///< of `major`, times span
};

/// nullopt if the EinSum is no access, or has no such labels, or if an operand or the result has both; if there are
/// several, those with the most indices.
std::optional<AlignedLabels> aligned_labels(const EinSum& einsum, const LabelTable& labels);

/// The access if its cells are those of its only operand at indices that never fall as labels rise: who reads them can
/// read the operand itself, at a stride for each label, or a copy with zeros around it, which is no larger than the
/// cells. Nullopt for any other EinSum.
///
///     P[c,y,x,p,q] = X[c, 2 * y + p - 1, 2 * x + q - 1 PAD 0]
std::optional<AccessForm> window_form(const EinSum& einsum, const LabelTable& labels);

}  // namespace eindb
