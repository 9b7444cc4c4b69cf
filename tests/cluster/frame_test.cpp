#include "cluster/frame.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "common/error.hpp"

namespace eindb {
namespace {

using Bytes = std::vector<std::byte>;

Bytes frame_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

const Digest kKey = sha256("the key of a direction");
const Bytes kHead = frame_bytes("head");
const Bytes kPayload = frame_bytes("some payload");
constexpr FrameHeader kHeader{.kind = FrameKind::Piece, .stream = 77, .total = 1000};

/// The message of the Error{Corrupt} thrown by `f`; empty if there is none.
std::string refusal_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
    return error.message();
  }
  return "";
}

TEST(Frame, ComesOutAsItWasSealed) {
  FrameSealer sealer(kKey);
  FrameOpener opener(kKey);
  for (int n = 0; n < 3; ++n) {
    const auto bytes = sealer.seal(kHeader, kHead, kPayload);
    ASSERT_EQ(FrameOpener::head_size(bytes), kHead.size());
    const auto header = opener.open(bytes, kHead);
    EXPECT_EQ(header.kind, FrameKind::Piece);
    EXPECT_EQ(header.stream, 77U);
    EXPECT_EQ(header.total, 1000U);
    EXPECT_EQ(header.head_size, kHead.size());
    EXPECT_EQ(header.payload_size, kPayload.size());
    opener.check_payload(header, kPayload);
  }
}

// For each changed bit of the header and the head, the frame is refused, or (in the magic, the version, the size of the
// head) the header is.
TEST(Frame, EveryAlteredBitIsNoticed) {
  const auto bytes = FrameSealer(kKey).seal(kHeader, kHead, kPayload);
  for (std::size_t bit = 0; bit < 8 * (bytes.size() + kHead.size()); ++bit) {
    auto altered = bytes;
    auto head = kHead;
    auto& byte = bit / 8 < bytes.size() ? altered[bit / 8] : head[bit / 8 - bytes.size()];
    byte ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_NE(refusal_of([&] {
                head.resize(FrameOpener::head_size(altered));
                FrameOpener(kKey).open(altered, head);
              }),
              "")
        << "bit " << bit;
  }
}

TEST(Frame, EveryAlteredByteOfThePayloadIsNoticed) {
  FrameOpener opener(kKey);
  const auto header = opener.open(FrameSealer(kKey).seal(kHeader, kHead, kPayload), kHead);
  for (std::size_t n = 0; n < kPayload.size(); ++n) {
    auto altered = kPayload;
    altered[n] ^= std::byte{1};
    EXPECT_EQ(refusal_of([&] { opener.check_payload(header, altered); }), "a frame has a wrong checksum");
  }
}

TEST(Frame, RepeatedFrameIsRefused) {
  FrameSealer sealer(kKey);
  FrameOpener opener(kKey);
  const auto first = sealer.seal(kHeader, kHead, kPayload);
  opener.open(first, kHead);
  EXPECT_EQ(refusal_of([&] { opener.open(first, kHead); }), "a frame is not the next one");
}

TEST(Frame, FrameThatComesTooEarlyIsRefused) {
  FrameSealer sealer(kKey);
  sealer.seal(kHeader, kHead, kPayload);
  const auto second = sealer.seal(kHeader, kHead, kPayload);
  EXPECT_EQ(refusal_of([&] { FrameOpener(kKey).open(second, kHead); }), "a frame is not the next one");
}

TEST(Frame, FrameOfAnotherConnectionIsRefused) {
  const auto bytes = FrameSealer(sha256("another key")).seal(kHeader, kHead, kPayload);
  EXPECT_EQ(refusal_of([&] { FrameOpener(kKey).open(bytes, kHead); }), "a frame has a wrong authentication code");
}

TEST(Frame, SizesAreCheckedBeforeAnythingIsRead) {
  auto bytes = FrameSealer(kKey).seal(kHeader, kHead, kPayload);
  bytes[32] = std::byte{1};
  bytes[33] = std::byte{2};  // 513
  EXPECT_EQ(refusal_of([&] { FrameOpener::head_size(bytes); }), "a frame has a head of 513 bytes");
}

// Even from a peer that knows the key: a piece belongs to its message.
TEST(Frame, PayloadBeyondItsMessageIsRefused) {
  const auto bytes = FrameSealer(kKey).seal({.kind = FrameKind::Piece, .total = 3}, {}, kPayload);
  EXPECT_EQ(refusal_of([&] { FrameOpener(kKey).open(bytes, {}); }), "a frame has a payload of 12 bytes");
}

}  // namespace
}  // namespace eindb
