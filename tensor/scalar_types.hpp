#pragma once

#include <optional>
#include <span>

#include "tensor/dtype.hpp"
#include "tensor/label.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The type of a value, and whether it adapts to its context, as constants, label values and comparisons do.
struct ScalarType {
  DType dtype = DType::Float64;
  bool weak = false;
  /// Only of a weak type: among weak types alone the value has this type, as stored integers of at most 16 bits have,
  /// rather than the default type FLOAT64.
  bool definite = false;
};

/// Typing rules (docs/language.md), for expressions with or without types. An expression without tensors is FLOAT64,
/// the default type. Throws Error{Type} if an operation that needs an order gets complex numbers.
ScalarType type_of(const ScalarExpression& e, std::span<const DType> operands);
/// The same, except that an expression without tensors has its kind: INT64 for whole numbers, labels and comparisons.
ScalarType kind_of(const ScalarExpression& e, std::span<const DType> operands);

/// The expression with all types made explicit: every operation computes in one type, which its arguments have, and
/// arguments of another type are converted. The value has the type `wanted`, or, without it, that of type_of.
/// Idempotent. Throws like type_of.
///
/// Types are determined per operation, not for the whole expression. With n INT64 and x FLOAT64:
///
///     (n % 10) * x                       CAST(n % 10 AS FLOAT64) * x, with an INT64 10
///     n + n + x                          CAST(n + n AS FLOAT64) + x: n + n wraps
///     CASE WHEN n = 3 THEN x ELSE 0 END  compares INT64, chooses among FLOAT64
///
/// A comparison, NOT, AND and OR return 1 or 0 in the type in which they compare. A condition of CASE may have any
/// type. Adapting values are computed in the type of their context if that is INT64, or can represent all their whole
/// numbers exactly, else in FLOAT64. `labels` bounds label values. Comparisons of whole numbers are exact.
ScalarPtr with_types(const ScalarPtr& e, std::span<const DType> operands, const LabelTable& labels,
                     std::optional<DType> wanted = std::nullopt);

/// The type of the value of an expression with types, or of parts of such expressions; nullopt if nothing in it has a
/// type.
std::optional<DType> written_type(const ScalarExpression& e, std::span<const DType> operands);

/// Whether all types are explicit, as with_types makes them, and the value has the type `wanted`.
bool has_types(const ScalarExpression& e, std::span<const DType> operands, DType wanted);

/// Whether an argument of a call is a condition of CASE, whose arguments are pairs of a condition and a value, and the
/// value otherwise.
bool is_condition(const ScalarExpression& e, std::size_t argument);

}  // namespace eindb
