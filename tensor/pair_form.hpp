#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/contraction_form.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// Functions of one element of either operand that pair blocks aggregate. All but Subtract, Less and LessEqual are
/// symmetric.
enum class PairFunction : std::uint8_t {
  Add,
  Subtract,
  Multiply,
  Least,
  Greatest,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  And,
  Or,
  SquaredDifference,
  AbsoluteDifference,
};

/// SUM, MIN or MAX of a function of two operands over labels that both have: what pair blocks compute. Likewise
/// LOGSUMEXP of a sum.
/// Example: Z[i,k] = MIN(X[i,j] + Y[j,k]) has function Add and roles i Left, j Contracted, k Right.
///
/// Or the search for the least index at which the function has the value of a third operand, or is NaN:
///
///     Z[i,k] = MIN[j](CASE WHEN X[i,j] + Y[j,k] = M[i,k] OR X[i,j] + Y[j,k] <> X[i,j] + Y[j,k] THEN j ELSE n END)
///
/// which is what ARGMIN and ARGMAX are translated to (parser/binder/aggregate_binder).
///
/// Or FirstLeast or FirstGreatest of the function's values with the indices of the label (tensor/placed_value).
struct PairForm {
  PairFunction function = PairFunction::Add;
  std::size_t left = 0;  ///< numbers of operands
  std::size_t right = 1;
  std::vector<ContractionRole> roles;  ///< one per label of the EinSum; none is summed on one side alone
  /// Whether the function compares the operands in their own type, and its value, 0 or 1, is converted.
  bool compares_before_converting = false;
  std::optional<std::size_t> sought = {};  ///< of a search: the operand with the value
  double none = 0;                         ///< of a search: n, which is no index
  bool places_integers = false;  ///< of values with their indices: they are INT64, and else FLOAT32 or FLOAT64
};

/// nullopt for anything else: a third operand, an operand that is converted, a label that is aggregated and that only
/// one operand has, a complex type.
std::optional<PairForm> pair_form(const EinSum& einsum, DType compute);

/// An EinSum that searches the values of one operand for an index, as above.
struct IndexSearch {
  std::size_t values = 0;  ///< numbers of operands
  std::size_t sought = 0;
  double none = 0;  ///< n above
};

/// nullopt for anything else.
std::optional<IndexSearch> index_search(const EinSum& einsum);

/// Whether these aggregates of AND and OR are computed on truth values packed as bits: the number of values of a label
/// for which both hold, or whether there is one; likewise the number for which one of two holds, and whether one does
/// for all.
bool packs_truths(PairFunction function, Aggregate aggregate);

}  // namespace eindb
