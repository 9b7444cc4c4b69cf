// The format of a reference to a tile that lies at workers, version 2. All integers are little-endian.
//
//     offset  size  field
//          0     4  magic "EINR"
//          4     2  format version, 2
//          6     2  number of workers n, 1 to 16
//          8     8  content, signed, positive
//         16     8  bytes of the encoded tile
//         24     8  checksum of the encoded tile, as its header has it
//         32     4  the number of the tile's TileFormat
//         36     4  the count of its stored cells, as its header has it
//         40   4 n  workers: numbers of rows of eindb_workers
//     40+4 n     8  XXH3-64 of all before
//
// Version 1 lacks format and count, so that its workers begin at offset 32.

#include "storage/shards/tile_reference.hpp"

#include <xxhash.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/byte_order.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::array<char, 4> kReferenceMagic{'E', 'I', 'N', 'R'};
constexpr std::uint16_t kVersionWithoutLabel = 1;
constexpr std::uint16_t kReferenceVersion = 2;
constexpr std::size_t kLabelOffset = 32;
constexpr std::size_t kChecksumSize = 8;

/// Where the workers begin.
constexpr std::size_t fixed_size(bool has_label) { return kLabelOffset + (has_label ? 8 : 0); }
constexpr std::size_t size_for(std::size_t workers, bool has_label) {
  return fixed_size(has_label) + 4 * workers + kChecksumSize;
}

constexpr std::size_t kLargestReference = size_for(TileReference::kMaxWorkers, true);

void require(bool holds, std::string_view context, const char* what) {
  if (holds) return;
  throw Error(ErrorKind::Corrupt, std::string(context) + " is damaged: its reference to workers " + what, std::nullopt,
              "restore the database from a copy, or drop the tensor and make it again");
}

}  // namespace

std::vector<std::byte> encode_reference(const TileReference& reference) {
  const auto workers = reference.workers.size();
  CHECK(workers > 0 && workers <= TileReference::kMaxWorkers, "a tile lies at one worker or several");
  CHECK(number(reference.content) > 0, "a content that is referred to has its number");
  const bool has_label = reference.label.has_value();
  std::vector<std::byte> out(size_for(workers, has_label));
  CHECK(out.size() <= kLargestReference, "a reference is short enough to be known as one");
  std::memcpy(out.data(), kReferenceMagic.data(), kReferenceMagic.size());
  store_number(out, 4, has_label ? kReferenceVersion : kVersionWithoutLabel);
  store_number(out, 6, static_cast<std::uint16_t>(workers));
  store_number(out, 8, number(reference.content));
  store_number(out, 16, reference.bytes);
  store_number(out, 24, reference.checksum);
  if (has_label) {
    CHECK(reference.label->count >= 0 && reference.label->count <= std::int64_t{UINT32_MAX},
          "a stored tile has as many cells as its header counts");
    store_number(out, kLabelOffset, static_cast<std::uint32_t>(reference.label->format));
    store_number(out, kLabelOffset + 4, static_cast<std::uint32_t>(reference.label->count));
  }
  for (std::size_t n = 0; n < workers; ++n) store_number(out, fixed_size(has_label) + 4 * n, reference.workers[n]);
  store_number(out, out.size() - kChecksumSize, XXH3_64bits(out.data(), out.size() - kChecksumSize));
  return out;
}

bool is_reference(std::span<const std::byte> bytes) {
  return bytes.size() >= kReferenceMagic.size() &&
         std::memcmp(bytes.data(), kReferenceMagic.data(), kReferenceMagic.size()) == 0;
}

TileReference decode_reference(std::span<const std::byte> bytes, std::string_view context) {
  require(is_reference(bytes), context, "does not begin as one");
  require(bytes.size() >= size_for(1, false), context, "is cut short");
  const auto version = load_number<std::uint16_t>(bytes, 4);
  require(version == kVersionWithoutLabel || version == kReferenceVersion, context, "has an unknown format version");
  const bool has_label = version != kVersionWithoutLabel;
  const std::size_t workers = load_number<std::uint16_t>(bytes, 6);
  require(workers > 0 && workers <= TileReference::kMaxWorkers, context, "names no worker, or too many");
  require(bytes.size() == size_for(workers, has_label), context, "is not as long as it says");
  const auto summed = bytes.first(bytes.size() - kChecksumSize);
  require(load_number<std::uint64_t>(bytes, summed.size()) == XXH3_64bits(summed.data(), summed.size()), context,
          "does not match its checksum");
  TileReference out{.content = ContentId{load_number<std::int64_t>(bytes, 8)},
                    .bytes = load_number<std::uint64_t>(bytes, 16),
                    .checksum = load_number<std::uint64_t>(bytes, 24),
                    .workers = {}};
  require(number(out.content) > 0, context, "has no proper content");
  if (has_label) {
    const auto format = load_number<std::uint32_t>(bytes, kLabelOffset);
    require(format <= static_cast<std::uint32_t>(kLastTileFormat), context, "has an unknown format of its tile");
    out.label = TileLabel{TileFormat{static_cast<std::uint8_t>(format)},
                          std::int64_t{load_number<std::uint32_t>(bytes, kLabelOffset + 4)}};
  }
  out.workers.reserve(workers);
  for (std::size_t n = 0; n < workers; ++n)
    out.workers.push_back(load_number<WorkerNumber>(bytes, fixed_size(has_label) + 4 * n));
  return out;
}

std::optional<std::vector<std::byte>> reference_bytes(const ByteSource& value) {
  if (value.size() < kReferenceMagic.size() || value.size() > kLargestReference) return std::nullopt;
  std::array<std::byte, kReferenceMagic.size()> begin;
  value.read(0, begin);
  if (!is_reference(begin)) return std::nullopt;
  std::vector<std::byte> bytes(value.size());
  value.read(0, bytes);
  return bytes;
}

}  // namespace eindb
