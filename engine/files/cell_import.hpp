#pragma once

#include <memory>
#include <optional>
#include <string>

#include "catalog/tensor_info.hpp"
#include "engine/files/copy_options.hpp"
#include "engine/session/session_state.hpp"
#include "storage/cells/cell_source.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// Opens a file that holds a list of cells. Shape and type come from `existing`, the tensor to fill, or else from the
/// options, or else from the file. Error{Shape} if they contradict each other.
std::unique_ptr<CellSource> open_cell_list(const FilePath& path, const CopyOptions& options,
                                           const std::optional<TensorInfo>& existing, const Cancellation& cancellation);
/// The options of a COPY FROM, with the format of SciPy's sparse matrices if the file has one and the options name no
/// array in it.
CopyOptions options_for_file(const FilePath& path, CopyOptions options);

/// Fills a new, empty tensor inside the caller's transaction, within the session's memory_limit. See CellLoader.
void load_cells(CellSource& cells, const TensorInfo& tensor, OpenDatabase& database, const Settings& settings,
                const StatementContext& statement);

}  // namespace eindb
