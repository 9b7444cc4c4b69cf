#pragma once

#include <vector>

#include "catalog/tensor_info.hpp"
#include "engine/plans/planned_query.hpp"
#include "engine/session/open_database.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// The tensors that get new values, in the order of the statement. Error{UnknownName} where there is none of a name.
std::vector<TensorInfo> updated_tensors(const ast::Updates& updates, OpenDatabase& database);

/// Results that fit in the tensors' place: cut as they are.
ResultRequest update_request(const std::vector<TensorInfo>& tensors);

}  // namespace eindb
