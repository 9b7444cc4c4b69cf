#pragma once

#include <memory>

#include "engine/arrow/arrow_batches.hpp"
#include "engine/files/copy_options.hpp"
#include "engine/session/session_state.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// Whether the format is one of Arrow's.
constexpr bool is_arrow(FileFormat format) { return format == FileFormat::Arrow || format == FileFormat::ArrowStream; }

/// Writes a table as a file or a stream of Arrow, which appears whole or not at all.
void export_arrow(const FilePath& path, FileFormat format, ArrowBatchSource& batches, SessionState& session);

/// Rows of an Arrow file's batch.
inline constexpr std::int64_t kArrowFileRows = 65536;

}  // namespace eindb
