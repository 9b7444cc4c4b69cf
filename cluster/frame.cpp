// A frame, version 1. All integers are little-endian.
//
//     offset  size  field
//          0     4  magic "EINF"
//          4     2  protocol version, 1
//          6     1  kind: the number of FrameKind
//          7     1  zero
//          8     8  stream
//         16     8  sequence number: 0 for the first frame of a direction of a connection, and so on
//         24     8  total
//         32     4  bytes of the head, h
//         36     4  bytes of the payload, p
//         40     8  checksum of the payload: XXH3-64, seeded from the key
//         48    16  the first half of HMAC-SHA-256 over bytes 0 to 47 and the head, under the key
//         64     h  head
//       64+h     p  payload

#include "cluster/frame.hpp"

#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>  // the same hash with AVX2 or AVX-512 where there is
#endif

#include <algorithm>
#include <cstring>
#include <string>

#include "common/byte_order.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::uint32_t kFrameMagic = 0x464E4945;  // "EINF"
constexpr std::size_t kVersionOffset = 4;
constexpr std::size_t kKindOffset = 6;
constexpr std::size_t kZeroOffset = 7;
constexpr std::size_t kStreamOffset = 8;
constexpr std::size_t kSequenceOffset = 16;
constexpr std::size_t kTotalOffset = 24;
constexpr std::size_t kHeadSizeOffset = 32;
constexpr std::size_t kPayloadSizeOffset = 36;
constexpr std::size_t kChecksumOffset = 40;
constexpr std::size_t kCodeOffset = 48;
constexpr std::size_t kCodeBytes = 16;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorKind::Corrupt, "a frame " + what); }

std::uint64_t checksum_of(std::span<const std::byte> payload, std::uint64_t seed) {
  return payload.empty() ? 0 : XXH3_64bits_withSeed(payload.data(), payload.size(), seed);
}

std::uint64_t seed_of(const Digest& key) {
  const auto digest = hmac_sha256(key.view(), "checksum");
  return load_number<std::uint64_t>(std::as_bytes(std::span(digest.bytes)), 0);
}

using Code = std::array<std::byte, kCodeBytes>;

Code code_of(const Digest& key, const FrameHeaderBytes& bytes, std::span<const std::byte> head) {
  CHECK(head.size() <= kMostFrameHead, "what a code covers has room");
  std::array<std::byte, kCodeOffset + kMostFrameHead> covered{};
  std::copy_n(bytes.begin(), kCodeOffset, covered.begin());
  std::copy(head.begin(), head.end(), covered.begin() + kCodeOffset);
  const auto digest =
      hmac_sha256(key.view(), {reinterpret_cast<const char*>(covered.data()), kCodeOffset + head.size()});
  Code code{};
  std::memcpy(code.data(), digest.bytes.data(), kCodeBytes);
  return code;
}

// Compares in constant time.
bool is_code(const FrameHeaderBytes& bytes, const Code& code) {
  auto differences = std::byte{0};
  for (std::size_t n = 0; n < kCodeBytes; ++n) differences |= bytes[kCodeOffset + n] ^ code[n];
  return differences == std::byte{0};
}

bool is_kind(std::uint8_t number) {
  return number >= static_cast<std::uint8_t>(FrameKind::Message) &&
         number <= static_cast<std::uint8_t>(FrameKind::Probe);
}

}  // namespace

FrameSealer::FrameSealer(const Digest& key) : key_(key), checksum_seed_(seed_of(key)) {}

FrameHeaderBytes FrameSealer::seal(FrameHeader header, std::span<const std::byte> head,
                                   std::span<const std::byte> payload) {
  CHECK(head.size() <= kMostFrameHead && payload.size() <= kMostFramePayload, "a frame is within its limits");
  FrameHeaderBytes bytes{};
  store_number(bytes, 0, kFrameMagic);
  store_number(bytes, kVersionOffset, kClusterProtocolVersion);
  store_number(bytes, kKindOffset, static_cast<std::uint8_t>(header.kind));
  store_number(bytes, kStreamOffset, header.stream);
  store_number(bytes, kSequenceOffset, sequence_++);
  store_number(bytes, kTotalOffset, header.total);
  store_number(bytes, kHeadSizeOffset, static_cast<std::uint32_t>(head.size()));
  store_number(bytes, kPayloadSizeOffset, static_cast<std::uint32_t>(payload.size()));
  store_number(bytes, kChecksumOffset, checksum_of(payload, checksum_seed_));
  const auto code = code_of(key_, bytes, head);
  std::copy(code.begin(), code.end(), bytes.begin() + kCodeOffset);
  return bytes;
}

FrameOpener::FrameOpener(const Digest& key) : key_(key), checksum_seed_(seed_of(key)) {}

std::size_t FrameOpener::head_size(const FrameHeaderBytes& bytes) {
  if (load_number<std::uint32_t>(bytes, 0) != kFrameMagic) fail("does not begin as frames do");
  const auto version = load_number<std::uint16_t>(bytes, kVersionOffset);
  if (version != kClusterProtocolVersion) fail("is of version " + std::to_string(version));
  const auto size = load_number<std::uint32_t>(bytes, kHeadSizeOffset);
  if (size > kMostFrameHead) fail("has a head of " + std::to_string(size) + " bytes");
  return size;
}

FrameHeader FrameOpener::open(const FrameHeaderBytes& bytes, std::span<const std::byte> head) {
  CHECK(head.size() == head_size(bytes), "a frame is opened with its head");
  if (!is_code(bytes, code_of(key_, bytes, head))) fail("has a wrong authentication code");
  if (load_number<std::uint64_t>(bytes, kSequenceOffset) != sequence_) fail("is not the next one");
  const auto kind = load_number<std::uint8_t>(bytes, kKindOffset);
  if (!is_kind(kind) || bytes[kZeroOffset] != std::byte{0}) fail("is of an unknown kind");
  const FrameHeader header{.kind = static_cast<FrameKind>(kind),
                           .stream = load_number<std::uint64_t>(bytes, kStreamOffset),
                           .total = load_number<std::uint64_t>(bytes, kTotalOffset),
                           .head_size = static_cast<std::uint32_t>(head.size()),
                           .payload_size = load_number<std::uint32_t>(bytes, kPayloadSizeOffset),
                           .checksum = load_number<std::uint64_t>(bytes, kChecksumOffset)};
  if (header.payload_size > kMostFramePayload || header.payload_size > header.total)
    fail("has a payload of " + std::to_string(header.payload_size) + " bytes");
  ++sequence_;
  return header;
}

void FrameOpener::check_payload(const FrameHeader& header, std::span<const std::byte> payload) const {
  if (payload.size() != header.payload_size || checksum_of(payload, checksum_seed_) != header.checksum)
    fail("has a wrong checksum");
}

}  // namespace eindb
