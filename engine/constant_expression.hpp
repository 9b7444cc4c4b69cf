#pragma once

#include "parser/ast.hpp"
#include "storage/cell.hpp"

namespace eindb {

/// The value of an expression that names no tensor and no label: 1.5, -(2 + 1) / 4, SQRT(2), PI. Types and functions
/// are those of EINSUM: 7 / 2 is 3.5, 2 ^ 3 is the integer 8. Errors have the span of what is no constant.
CellValue evaluate_constant(const ast::Expression& expression);

}  // namespace eindb
