// Fuzzing of all readers of files: the first byte selects the format, the rest is the file. Only Errors of a file's
// kind may be thrown, in bounded memory. HDF5 is not included, since a library reads it in a process of its own.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "common/cancellation.hpp"
#include "common/error.hpp"
#include "engine/settings/machine_file.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/formats/coordinate_reader.hpp"
#include "storage/formats/csv_reader.hpp"
#include "storage/formats/gguf_reader.hpp"
#include "storage/formats/matrix_market_reader.hpp"
#include "storage/formats/npy_reader.hpp"
#include "storage/formats/npz_reader.hpp"
#include "storage/formats/safetensors_reader.hpp"
#include "storage/formats/scipy_reader.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kMostElements = 4096;
constexpr int kMostCells = 10000;

// An unnamed file with a path while it lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) : descriptor_(memfd_create("fuzz", 0)) {
    if (descriptor_ < 0) std::abort();
    while (!bytes.empty()) {
      const auto written = write(descriptor_, bytes.data(), bytes.size());
      if (written <= 0) std::abort();
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// Reads the first and the last block, of at most some thousand elements.
template <class Reader>
void read_blocks(Reader&& reader) {
  const auto& shape = reader.shape();
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> last;
  std::int64_t left = kMostElements;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 0) return;
    extents.push_back(std::clamp<std::int64_t>(left, 1, std::min<std::int64_t>(shape[d], 16)));
    left /= extents.back();
    last.push_back(shape[d] - extents.back());
  }
  reader.read_block(std::vector<std::int64_t>(shape.rank(), 0), Shape(extents));
  reader.read_block(last, Shape(extents));
}

void read_cells(CellSource&& source) {
  KeyedCell cell;
  for (int n = 0; n < kMostCells && source.next(cell); ++n) source.place(cell.line);
}

void read_file(int format, const std::string& path, std::span<const std::uint8_t> bytes) {
  const Cancellation never;
  switch (format) {
    case 0: return read_blocks(NpyReader(path));
    case 1: return read_blocks(NpzReader(path, ""));
    case 2: return read_blocks(SafetensorsReader(path, ""));
    case 3: {
      CsvReader reader(path, {}, &never);
      for (int band = 0; band < 4 && reader.next_band(16); ++band) continue;
      return;
    }
    case 4: return read_cells(CoordinateReader(path, {}, std::nullopt, std::nullopt, never));
    case 5: return read_cells(CoordinateReader(path, frostt_options(), std::nullopt, std::nullopt, never));
    case 6: return read_cells(MatrixMarketReader(path));
    case 7: decode_tile(MemorySource(std::as_bytes(bytes)), DType::Float32, Shape({2, 3}), "a tile"); return;
    case 8: read_machine_file(path); return;
    case 10: return read_cells(ScipyReader(path, never));
    default: return read_blocks(GgufReader(path, ""));
  }
}

bool is_of_files(ErrorKind kind) {
  return kind == ErrorKind::Corrupt || kind == ErrorKind::Unsupported || kind == ErrorKind::Value ||
         kind == ErrorKind::Shape || kind == ErrorKind::Type || kind == ErrorKind::UnknownName ||
         kind == ErrorKind::DuplicateName || kind == ErrorKind::MemoryLimit;
}

void try_input(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  const MemoryFile file(bytes);
  try {
    read_file(data[0] % 11, file.path(), bytes);
  } catch (const Error& error) {
    if (!is_of_files(error.kind()) || render(error, "").empty()) std::abort();
  }
}

}  // namespace
}  // namespace eindb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  eindb::try_input(data, size);
  return 0;
}
