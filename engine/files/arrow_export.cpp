#include "engine/files/arrow_export.hpp"

#include "engine/arrow/ipc_writer.hpp"
#include "storage/files/output_file.hpp"

namespace eindb {

void export_arrow(const FilePath& path, FileFormat format, ArrowBatchSource& batches, SessionState& session) {
  OutputFile file(path);
  ArrowIpcWriter writer(file, batches.schema(),
                        format == FileFormat::Arrow ? ArrowIpcWriter::Kind::File : ArrowIpcWriter::Kind::Stream);
  while (const auto batch = batches.next()) {
    session.statement.cancellation().check();
    writer.write(*batch);
  }
  writer.finish();
  file.commit();
}

}  // namespace eindb
