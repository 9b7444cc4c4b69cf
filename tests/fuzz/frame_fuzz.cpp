// Arbitrary bytes as input of a node: from a peer without the secret, as the handshake of either side; and from a peer
// that knows a connection's key, as frames with valid codes around the input. The first byte selects the kind.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "cluster/abort_head.hpp"
#include "cluster/frame.hpp"
#include "cluster/handshake.hpp"
#include "common/error.hpp"

namespace {

using Bytes = std::span<const std::byte>;

eindb::ClusterSecret& secret() {
  static auto made = eindb::ClusterSecret::of("nobody guesses this");
  return made;
}

/// Sends pieces of `piece` bytes. The handshake must not succeed, and the node must not buffer more than a message.
void shake_hands(eindb::Handshake::Side side, Bytes bytes, std::size_t piece) {
  eindb::Handshake handshake(side, secret(), {.node = "node"});
  try {
    while (!bytes.empty()) {
      if (handshake.wanted() == 0 || handshake.wanted() > eindb::Handshake::kMostMessage) std::abort();
      const auto count = std::min({piece, bytes.size(), handshake.wanted()});
      handshake.receive(bytes.first(count));
      bytes = bytes.subspan(count);
      if (handshake.take_output().size() > 2 * eindb::Handshake::kMostMessage) std::abort();
    }
  } catch (const eindb::Error&) {  // the connection would end
  }
  if (handshake.is_done()) std::abort();
}

/// Without the key no frame can be opened.
void open_frames(Bytes bytes) {
  static const auto key = eindb::sha256("key");
  eindb::FrameOpener opener(key);
  try {
    while (bytes.size() >= eindb::kFrameHeaderBytes) {
      eindb::FrameHeaderBytes header{};
      std::copy_n(bytes.begin(), header.size(), header.begin());
      const auto size = eindb::FrameOpener::head_size(header);
      if (size > eindb::kMostFrameHead) std::abort();
      bytes = bytes.subspan(header.size());
      if (size > bytes.size()) return;
      opener.open(header, bytes.first(size));
      std::abort();
    }
  } catch (const eindb::Error&) {  // the connection would end
  }
}

/// Sealed and opened frames must be unchanged.
void seal_frames(Bytes bytes) {
  static const auto key = eindb::sha256("key");
  eindb::FrameSealer sealer(key);
  eindb::FrameOpener opener(key);
  while (!bytes.empty()) {
    const auto head = bytes.first(std::min(bytes.size(), std::to_integer<std::size_t>(bytes[0]) * 2));
    const auto payload = bytes.subspan(head.size());
    const auto kind = static_cast<eindb::FrameKind>(std::to_integer<int>(bytes[0]) % 8 + 1);
    const auto sealed = sealer.seal({.kind = kind, .total = payload.size()}, head, payload);
    const auto header = opener.open(sealed, head);
    opener.check_payload(header, payload);
    if (header.kind != kind || header.payload_size != payload.size()) std::abort();
    eindb::read_abort_head(head);
    bytes = bytes.subspan(std::max(head.size(), std::size_t{1}));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 1024) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::size_t piece = (std::size_t{data[0]} >> 2U) + 1;
  switch (data[0] % 4) {
    case 0: shake_hands(eindb::Handshake::Side::Accepts, bytes, piece); break;
    case 1: shake_hands(eindb::Handshake::Side::Connects, bytes, piece); break;
    case 2: open_frames(bytes); break;
    default: seal_frames(bytes); break;
  }
  return 0;
}
