#pragma once

#include <memory>
#include <vector>

#include "engine/results/tensor_strips.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/rows/row_stream.hpp"

namespace eindb {

/// A tensor as a row for each element, (labels..., value), in row-major order; complex values as two. The same as
/// CellRowStream over the rows of its result, several times as fast: no cells are made, and labels that stay the same
/// from row to row are written once.
std::unique_ptr<RowStream> tensor_row_stream(TensorStrips strips, std::vector<frontend::Format> formats);

}  // namespace eindb
