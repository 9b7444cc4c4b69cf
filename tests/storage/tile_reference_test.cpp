// References: round trips, and bytes that merely resemble a reference.

#include "storage/shards/tile_reference.hpp"

#include <gtest/gtest.h>

#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

TileReference example() {
  return {.content = ContentId{0x1234567890},
          .bytes = 4096,
          .checksum = 0xFEDCBA9876543210U,
          .workers = {WorkerNumber{3}, WorkerNumber{1}}};
}

TEST(TileReferenceTest, RoundTrips) {
  auto reference = example();
  EXPECT_EQ(decode_reference(encode_reference(reference), "it"), reference);
  reference.workers.resize(TileReference::kMaxWorkers, WorkerNumber{7});
  const auto bytes = encode_reference(reference);
  EXPECT_EQ(decode_reference(bytes, "it"), reference);
  EXPECT_EQ(reference_bytes(MemorySource(bytes)), bytes);
}

TEST(TileReferenceTest, TellsFormatAndCellsOfItsTile) {
  auto reference = example();
  const auto without = encode_reference(reference);
  for (const auto format : {TileFormat::Dense, TileFormat::Constant, TileFormat::Coordinates, TileFormat::Bitmap}) {
    reference.label = TileLabel{format, format == TileFormat::Dense ? 0 : std::int64_t{UINT32_MAX}};
    const auto bytes = encode_reference(reference);
    EXPECT_EQ(bytes.size(), without.size() + 8);
    EXPECT_EQ(decode_reference(bytes, "it"), reference);
  }
}

TEST(TileReferenceTest, ATileIsNone) {
  const auto tile = encode_tile(Tile::zeros(DType::Float64, Shape({2})));
  EXPECT_FALSE(reference_bytes(MemorySource(tile)).has_value());
  EXPECT_FALSE(reference_bytes(MemorySource({})).has_value());
  EXPECT_ERROR(decode_reference(tile, "it"), ErrorKind::Corrupt, "it is damaged");
}

TEST(TileReferenceTest, EveryFlippedBitAndEveryCutIsFound) {
  auto labelled = example();
  labelled.label = TileLabel{TileFormat::Coordinates, 77};
  for (const auto& reference : {example(), labelled}) {
    const auto bytes = encode_reference(reference);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      auto damaged = bytes;
      damaged[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_ERROR(decode_reference(damaged, "it"), ErrorKind::Corrupt, "damaged");
    }
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_ERROR(decode_reference(std::span(bytes).first(size), "it"), ErrorKind::Corrupt, "damaged");
  }
}

}  // namespace
}  // namespace eindb
