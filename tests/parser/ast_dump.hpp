#pragma once

#include <string>

#include "parser/ast.hpp"

namespace eindb::ast {

/// The tree as one line, so that a test can state its expectation compactly:
///
///     -a ^ 2 + SUM[j](X[i,j])     ((neg (a ^ 2)) + (SUM[j] X[i,j]))
///
/// A chain is one pair of parentheses: `a * b * c` is (a * b * c), `(a * b) * c` is ((a * b) * c).
std::string dump(const Expression& expression);
std::string dump(const Query& query);
std::string dump(const Statement& statement);

}  // namespace eindb::ast
