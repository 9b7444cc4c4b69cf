// Fuzzing of the cells that ranks send: the first two bytes select a type and a shape, the rest is what came. Whatever
// it is, it is refused or read, within the memory of as many cells as it says; cells that are read are the same after
// they were sent once more.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "storage/encoding/packed_cells.hpp"

namespace eindb {
namespace {

constexpr std::array<DType, 5> kTypesOfCells{DType::Float32, DType::Float64, DType::Complex64, DType::Complex128,
                                             DType::Int64};
// A few bytes can stand for a constant value of all cells of a large block: more cells than these are not unpacked
// here.
constexpr std::int64_t kMostUnpacked = 1 << 20;

Shape shape_of_cells(std::uint8_t number) {
  switch (number % 4) {
    case 0: return Shape({2, 3});
    case 1: return Shape({20, 30});
    case 2: return Shape({300, 20, 7});
    default: return Shape({1 << 30, 1 << 30});
  }
}

void try_cells(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  const auto type = kTypesOfCells[input[0] % kTypesOfCells.size()];
  const auto shape = shape_of_cells(input[1]);
  const auto bytes = std::as_bytes(input.subspan(2));
  const auto count = packed_cell_count(type, shape, bytes);
  if (count && (*count < 0 || *count > shape.element_count())) std::abort();
  if (count && *count > kMostUnpacked) return;
  const auto cells = unpack_cells(type, shape, bytes);
  if (!cells) return;
  if (!count || cells->count() > *count) std::abort();
  const auto packed = pack_cells(*cells);
  const auto again = unpack_cells(type, shape, packed);
  if (!again || again->count() > cells->count()) std::abort();
  // Cells without a bit set are left out the first time.
  const auto once_more = unpack_cells(type, shape, pack_cells(*again));
  if (!once_more || once_more->numbers() != again->numbers() ||
      !std::ranges::equal(once_more->trie().values, again->trie().values))
    std::abort();
}

}  // namespace
}  // namespace eindb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  eindb::try_cells(std::span(data, size));
  return 0;
}
