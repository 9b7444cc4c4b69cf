// Fuzzing of files and streams of Arrow: whatever the bytes are, only Errors of a file's kind may be thrown, in bounded
// memory.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "common/error.hpp"
#include "engine/arrow/arrow_column.hpp"
#include "engine/arrow/ipc_reader.hpp"
#include "storage/files/input_file.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kMemory = 16 << 20;
constexpr std::int64_t kMostRows = 200;
constexpr int kMostBatches = 50;

bool is_of_arrow(ErrorKind kind) {
  return kind == ErrorKind::Corrupt || kind == ErrorKind::Unsupported || kind == ErrorKind::Value ||
         kind == ErrorKind::Type || kind == ErrorKind::MemoryLimit;
}

void read_column(const ArrowColumn& column) {
  for (std::int64_t n = 0; n < std::min(column.length(), kMostRows); ++n) {
    const bool is_single = column.type().kind != ArrowKind::List && column.type().kind != ArrowKind::Struct;
    if (is_single) column.cell(n);
    else column.is_null(n);
  }
  for (const auto& part : column.parts()) read_column(part);
}

void read_file(const InputFile& file) {
  ArrowIpcReader reader(file, kMemory);
  const auto type = arrow_type(reader.schema());
  for (int n = 0; n < kMostBatches; ++n) {
    const auto batch = reader.next();
    if (!batch) return;
    read_column(ArrowColumn(type, *batch));
  }
}

void try_arrow(std::span<const std::uint8_t> bytes) {
  const int descriptor = memfd_create("fuzz", 0);
  if (descriptor < 0) std::abort();
  while (!bytes.empty()) {
    const auto written = write(descriptor, bytes.data(), bytes.size());
    if (written <= 0) std::abort();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  const InputFile file("x.arrow", descriptor);
  try {
    read_file(file);
  } catch (const Error& error) {
    if (!is_of_arrow(error.kind()) || render(error, "").empty()) std::abort();
  }
}

}  // namespace
}  // namespace eindb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  eindb::try_arrow({data, size});
  return 0;
}
