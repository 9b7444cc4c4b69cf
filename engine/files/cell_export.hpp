#pragma once

#include <cstdint>
#include <string>

#include "engine/files/copy_options.hpp"
#include "engine/files/tensor_export.hpp"
#include "storage/files/external_sorter.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// Writes the cells that are not zero (NaN is not) in row-major order, whatever the tiles: CSV, TSV, FROSTT .tns or
/// Matrix Market. The cells of one part of the first dimension are sorted in `memory` bytes, through a file if need be.
/// Tiles that are not stored cost nothing. Matrix Market states the number of cells first: tiles are read twice.
/// Error{Unsupported} for what a format cannot hold: complex numbers in .tns, other than one or two dimensions in .mtx.
void export_cells(const FilePath& path, const CopyOptions& options, const TileProvider& tensor, std::int64_t memory,
                  const Cancellation& cancellation);

}  // namespace eindb
