#pragma once

#include <cstdint>
#include <string>

#include "engine/files/copy_options.hpp"
#include "engine/files/tensor_export.hpp"
#include "storage/files/external_sorter.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// Writes the nonzero cells (NaN counts as nonzero) in row-major order, however the tensor is cut: CSV, TSV, FROSTT
/// .tns, Matrix Market or SciPy. The cells of one part of the first dimension are sorted at a time in `memory` bytes,
/// spilling to a file if they need more. Absent tiles cost nothing. Matrix Market and SciPy state the number of cells
/// first, so their tiles are read twice. Error{Unsupported} for tensors that a format cannot hold: complex numbers in
/// .tns, or any number of dimensions but one or two in a matrix.
void export_cells(const FilePath& path, const CopyOptions& options, const TileProvider& tensor, std::int64_t memory,
                  const Cancellation& cancellation);

}  // namespace eindb
