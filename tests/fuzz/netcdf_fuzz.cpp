// Fuzzing of classic files of netCDF: whatever the bytes are, only Errors of a file's kind may be thrown, in bounded
// memory.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "storage/formats/classic_netcdf.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMostVariables = 20;

bool is_of_netcdf(ErrorKind kind) {
  return kind == ErrorKind::Corrupt || kind == ErrorKind::Unsupported || kind == ErrorKind::Value ||
         kind == ErrorKind::Shape || kind == ErrorKind::UnknownName;
}

// Reads the first and the last block of a few elements.
void read_blocks(const ClassicNetcdfReader& reader) {
  const auto& shape = reader.shape();
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> last;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 0) return;
    extents.push_back(std::min<std::int64_t>(shape[d], d < 8 ? 2 : 1));
    last.push_back(shape[d] - extents.back());
  }
  reader.read_block(std::vector<std::int64_t>(shape.rank(), 0), Shape(extents));
  reader.read_block(last, Shape(extents));
}

template <class F>
void guarded(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    if (!is_of_netcdf(error.kind()) || render(error, "").empty()) std::abort();
  }
}

void try_netcdf(std::span<const std::uint8_t> bytes) {
  const int descriptor = memfd_create("fuzz", 0);
  if (descriptor < 0) std::abort();
  while (!bytes.empty()) {
    const auto written = write(descriptor, bytes.data(), bytes.size());
    if (written <= 0) std::abort();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  const InputFile file("x.nc", descriptor);
  guarded([&] {
    const auto variables = read_classic_netcdf(file);
    for (std::size_t n = 0; n < std::min(variables.size(), kMostVariables); ++n)
      guarded([&] {
        read_blocks(ClassicNetcdfReader(file.path_of_descriptor(), variables[n].name, PackedValues::Unpack));
      });
  });
}

}  // namespace
}  // namespace eindb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  eindb::try_netcdf({data, size});
  return 0;
}
