#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "parser/ast.hpp"

namespace eindb {

/// The query with a seed for each RANDOM(), RANDN(), dropout(x, p) and SVD(A, k) that has none, in the order of the
/// text; nullopt if all have one. Bodies of macros are not looked at.
std::optional<ast::Query> with_random_seeds(const ast::Query& query, const std::function<std::int64_t()>& next_seed);

}  // namespace eindb
