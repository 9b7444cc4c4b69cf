#pragma once

#include <vector>

#include "catalog/tensor_info.hpp"
#include "engine/plans/planned_query.hpp"
#include "engine/session/open_database.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// The updated tensors in the order of the statement. Error{UnknownName} for a name without a tensor.
std::vector<TensorInfo> updated_tensors(const ast::Updates& updates, OpenDatabase& database);

/// Requests results in the partitions of the tensors, where they are new contents of whole ones.
ResultRequest update_request(const ast::Updates& updates, const std::vector<TensorInfo>& tensors);

}  // namespace eindb
