#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/sql/sql_text.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// The labels of the tensor of this name; nullopt if it is no tensor.
using FindLabels = std::function<std::optional<std::vector<std::string>>(const std::string&)>;

/// The SQL with a query in parentheses for each part of a tensor: (EINSUM X[i,j] = X[0:10,:]) for X[0:10,:]. nullopt if
/// it has no such part. Throws Error{Syntax}, with a span in the user's statement, for an index that is no number,
/// parameter, range or label.
std::optional<RewrittenSql> with_queries_for_parts(const ast::Sql& sql, const FindLabels& find_labels);

}  // namespace eindb
