#pragma once

#include <optional>
#include <span>

#include "tensor/dtype.hpp"
#include "tensor/label.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// Type of the value and whether it adapts to what it meets: constants, label values and comparisons do.
struct ScalarType {
  DType dtype = DType::Float64;
  bool weak = false;
};

/// Typing rules of LANGUAGE, for expressions with and without types. What meets no tensor is FLOAT64, the default type.
/// Throws Error{Type} where an operation needs an order and gets complex numbers.
ScalarType type_of(const ScalarExpression& e, std::span<const DType> operands);
/// The same, but of what meets no tensor its kind: INT64 for whole numbers, labels and comparisons.
ScalarType kind_of(const ScalarExpression& e, std::span<const DType> operands);

/// The expression with all types written down: every operation computes in one type, which its arguments have, and what
/// has another one stands in a conversion. The value is in `wanted`; without it in that of type_of. What has its types
/// already stays as it is. Same errors.
///
/// Types are those of each operation, not of the whole: with n INT64 and x FLOAT64,
///
///     (n % 10) * x                       CAST(n % 10 AS FLOAT64) * x, with an INT64 10
///     n + n + x                          CAST(n + n AS FLOAT64) + x: n + n wraps
///     CASE WHEN n = 3 THEN x ELSE 0 END  compares INT64, chooses among FLOAT64
///
/// A comparison, NOT, AND and OR give 1 or 0 in the type that they compare in. A condition of CASE may have any type.
/// What adapts is computed in the type that it meets if that is INT64, or can hold all its whole numbers exactly; else
/// in FLOAT64. `labels` tells how large label values are. Whole numbers that are compared are compared exactly.
ScalarPtr with_types(const ScalarPtr& e, std::span<const DType> operands, const LabelTable& labels,
                     std::optional<DType> wanted = std::nullopt);

/// The type of the value of an expression with types, or of parts of such ones put together; nullopt where nothing in
/// it has a type.
std::optional<DType> written_type(const ScalarExpression& e, std::span<const DType> operands);

/// Whether with_types has written all types down, so that the value is in `wanted`.
bool has_types(const ScalarExpression& e, std::span<const DType> operands, DType wanted);

}  // namespace eindb
