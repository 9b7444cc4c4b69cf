// Fuzzing of the tile format: the first two bytes select a type and a shape, the rest is an encoded tile, whose
// checksum is made right, so that what is behind it is reached. Only Error{Corrupt} may be thrown. A tile that is read
// is the same after it was stored in any format.

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"

namespace eindb {
namespace {

constexpr std::array<DType, 5> kPlainTypes{DType::Float32, DType::Float64, DType::Complex64, DType::Complex128,
                                           DType::Int64};
constexpr std::size_t kChecksumOffset = 16;

StoredType type_of(std::uint8_t number) {
  const auto n = number % (kPlainTypes.size() + static_cast<std::size_t>(kLastEncoding));
  if (n < kPlainTypes.size()) return kPlainTypes[n];
  return with_encoding(static_cast<Encoding>(n - kPlainTypes.size() + 1));
}

Shape shape_of(std::uint8_t number) {
  switch (number % 4) {
    case 0: return Shape({2, 3});
    case 1: return Shape({20, 30});
    case 2: return Shape({700});
    default: return Shape(std::vector<std::int64_t>{});
  }
}

void set_checksum(std::vector<std::byte>& tile) {
  if (tile.size() < kChecksumOffset + sizeof(std::uint64_t)) return;
  std::memset(tile.data() + kChecksumOffset, 0, sizeof(std::uint64_t));
  const auto sum = XXH3_64bits(tile.data(), tile.size());
  std::memcpy(tile.data() + kChecksumOffset, &sum, sizeof(sum));
}

void store_again(const Tile& tile) {
  for (const auto choice : {FormatChoice::Auto, FormatChoice::Dense, FormatChoice::Sparse}) {
    const EncodedTile encoded(tile, tile.encoding(), {}, choice);
    std::vector<std::byte> bytes(encoded.header().begin(), encoded.header().end());
    bytes.insert(bytes.end(), encoded.values().begin(), encoded.values().end());
    const auto back = load_tile(MemorySource(bytes), tile.dtype(), tile.shape(), "a tile");
    if (!std::ranges::equal(back.bytes(), tile.bytes())) std::abort();
  }
}

void try_tile(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  const auto type = type_of(input[0]);
  const auto shape = shape_of(input[1]);
  const auto rest = std::as_bytes(input.subspan(2));
  std::vector<std::byte> bytes(rest.begin(), rest.end());
  set_checksum(bytes);
  try {
    store_again(load_tile(MemorySource(bytes), type.values, shape, "a tile"));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Corrupt) std::abort();
  }
}

}  // namespace
}  // namespace eindb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  eindb::try_tile(std::span(data, size));
  return 0;
}
