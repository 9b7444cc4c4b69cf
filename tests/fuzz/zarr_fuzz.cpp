// Fuzzing of Zarr: the first byte selects the version, then comes the metadata of an array up to a zero byte, then the
// bytes of a chunk. Only Errors of a file's kind may be thrown, in bounded memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "storage/formats/zarr_metadata.hpp"
#include "storage/formats/zarr_reader.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kMostChunkBytes = 1 << 20;

bool is_of_zarr(ErrorKind kind) {
  return kind == ErrorKind::Corrupt || kind == ErrorKind::Unsupported || kind == ErrorKind::Value ||
         kind == ErrorKind::Shape;
}

std::optional<ZarrArray> parsed(int version, std::string_view text) {
  if (version == 3) return parse_zarr_v3(text, "x.zarr").array;
  return parse_zarr_v2(text, R"({"_ARRAY_DIMENSIONS": ["t", 1, "x"]})", "x.zarr");
}

void read_array(int version, std::string_view text, std::span<const std::uint8_t> chunk) {
  const auto array = parsed(version, text);
  if (!array) return;
  const auto files = array->files();
  if (array->file_name(files).empty() || array->order.size() != array->chunk.size()) std::abort();
  if (array->chunk_bytes() > kMostChunkBytes || std::ssize(chunk) > kMostChunkBytes) return;
  const auto bytes = std::as_bytes(chunk);
  const auto plain = decode_zarr_chunk({bytes.begin(), bytes.end()}, array->filters,
                                       static_cast<std::size_t>(array->chunk_bytes()), "x.zarr/0.0");
  if (zarr_chunk_values(*array, plain, "x.zarr/0.0").shape().extents() != array->chunk) std::abort();
}

void try_zarr(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin()));
  const auto chunk = rest.subspan(std::min(text.size() + 1, rest.size()));
  try {
    read_array(input[0] % 2 == 0 ? 2 : 3, text, chunk);
  } catch (const Error& error) {
    if (!is_of_zarr(error.kind()) || render(error, "").empty()) std::abort();
  }
}

}  // namespace
}  // namespace eindb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  eindb::try_zarr({data, size});
  return 0;
}
