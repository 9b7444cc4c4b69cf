#pragma once

#include <eindb/arrow.hpp>
#include <memory>
#include <string>

#include "api/arrow_build.hpp"
#include "engine/results/tensor_strips.hpp"

namespace eindb {

/// Makes a stream of the rows of a result that are left, in batches of at most `rows_per_batch`. The stream keeps the
/// session. One thread at a time may use it, and the session meanwhile runs nothing else.
void export_rows(std::shared_ptr<const void> session, std::string text, std::size_t offset, Result result,
                 std::int64_t rows_per_batch, ArrowArrayStream& out);

/// The same for all cells of a tensor, which need no session.
void export_cells(std::shared_ptr<const TensorRelation> tensor, std::int64_t rows_per_batch, ArrowArrayStream& out);

/// The tensor as an array of the extension type arrow.fixed_shape_tensor, a cell of which is a slice of the first
/// dimension; a scalar is one cell. Complex numbers have one dimension more, of 2. `values` are all elements,
/// row-major.
void export_tensor(const TensorRelation& tensor, ArrowBytes values, ArrowSchema& schema, ArrowArray& array);

}  // namespace eindb
