#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "catalog/tensor_info.hpp"
#include "engine/session/session_state.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// The number of the dimension with this label. Error{Label} with the nearest one.
std::size_t dimension_named(const TensorInfo& tensor, const ast::Identifier& label);

/// Gives a tensor these extents, none of which is less than before, with zeros behind its cells, inside the caller's
/// transaction. A dimension that grows for the first time gets an edge (TileGrid), for which its tiles are written
/// anew unless they have that size; after that no tile is touched. Tensors at workers are written anew. A calendar of
/// names goes on; Error{Value} if the indices of a dimension that grows have other names.
TensorInfo extend_tensor(const TensorInfo& tensor, const std::vector<std::int64_t>& extents, SessionState& session);
/// The same with `names` for all indices.
TensorInfo extend_tensor(const TensorInfo& tensor, const std::vector<std::int64_t>& extents,
                         const DimensionNames& names, SessionState& session);
/// The names of the indices of dimension `d` when it has `extent` of them; the errors of extend_tensor().
IndexNames::Ptr grown_names(const TensorInfo& tensor, std::size_t d, std::int64_t extent);

}  // namespace eindb
