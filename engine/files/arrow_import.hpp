#pragma once

#include <memory>
#include <optional>
#include <string>

#include "catalog/tensor_info.hpp"
#include "engine/session/session_state.hpp"
#include "storage/cells/cell_source.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// Opens a file or a stream of Arrow as a list of cells: a column for each label, and `val`, or the last one where none
/// is called so. Labels of an existing tensor are found by their names, ignoring case, or else in their order; names of
/// its indices are texts, days and times. A new tensor has the columns' names and, by a pass over the file, the
/// greatest indices. Error{Value} for columns that do not fit, the errors of ArrowIpcReader.
std::unique_ptr<CellSource> open_arrow_cells(const FilePath& path, const std::optional<TensorInfo>& existing,
                                             std::int64_t memory_limit, const Cancellation& cancellation);

/// Adds the rows of a file or a stream of Arrow to a table: all of them or none.
void import_arrow_rows(const FilePath& path, const std::string& table, SessionState& session);

}  // namespace eindb
