#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "security/digest.hpp"

namespace eindb {

/// Of the handshake and of frames: nodes of different versions refuse each other.
inline constexpr std::uint16_t kClusterProtocolVersion = 1;

/// The kind of a frame. The numbers are part of the protocol: never reuse one.
enum class FrameKind : std::uint8_t {
  Message = 1,  ///< a piece of a message of a Channel
  Bind = 2,     ///< the connection is for a statement, between two ranks
  Bound = 3,    ///< the answer to Bind
  Release = 4,  ///< the sender's part in the statement is over
  Piece = 5,    ///< a piece of a message of a stream
  End = 6,      ///< the stream ends
  Block = 7,    ///< a piece of a block of a collective operation
  Abort = 8,    ///< the statement has failed
  Alive = 9,    ///< the sender has nothing to say, and goes on with the statement
  Probe = 10,   ///< a payload that is to come back: between statements, whether data goes both ways
};

/// The fixed-size header of a frame. `head` and payload follow it.
struct FrameHeader {
  FrameKind kind = FrameKind::Message;
  std::uint64_t stream = 0;        ///< the statement; 0: of a channel
  std::uint64_t total = 0;         ///< bytes of all payloads of the message that the frame is a piece of
  std::uint32_t head_size = 0;     ///< at most kMostFrameHead
  std::uint32_t payload_size = 0;  ///< at most kMostFramePayload
  std::uint64_t checksum = 0;      ///< of the payload
};

inline constexpr std::size_t kFrameHeaderBytes = 64;
inline constexpr std::size_t kMostFrameHead = 512;
/// What is made a checksum of is still in the cache when it is sent, and when it was received: a quarter faster than 1
/// MiB.
inline constexpr std::size_t kMostFramePayload = std::size_t{256} << 10U;

using FrameHeaderBytes = std::array<std::byte, kFrameHeaderBytes>;

/// Makes the headers of the frames that one side of a connection sends, in the order of sending. `key` is that of the
/// connection and the direction. Not thread-safe; no input or output.
class FrameSealer {
 public:
  explicit FrameSealer(const Digest& key);
  /// Fills in sizes and checksum.
  FrameHeaderBytes seal(FrameHeader header, std::span<const std::byte> head, std::span<const std::byte> payload);

 private:
  Digest key_;
  std::uint64_t checksum_seed_;
  std::uint64_t sequence_ = 0;
};

/// Reads the headers of frames that a FrameSealer with the same key has made: each once, in the same order. All else,
/// a frame that was altered, comes again, is left out or is of another connection, is Error{Corrupt}; after it the
/// connection is of no use. Not thread-safe.
///
/// That payloads are what was sent is checked against accidents, by a checksum that strangers cannot compute; against
/// somebody who alters them on the way on purpose, there is TLS.
class FrameOpener {
 public:
  explicit FrameOpener(const Digest& key);

  /// How many bytes of head follow. Error{Corrupt} for what is no header of this version.
  static std::size_t head_size(const FrameHeaderBytes& bytes);
  /// Checks all but the payload.
  FrameHeader open(const FrameHeaderBytes& bytes, std::span<const std::byte> head);
  /// Error{Corrupt} unless `payload` is the one that was sent.
  void check_payload(const FrameHeader& header, std::span<const std::byte> payload) const;

 private:
  Digest key_;
  std::uint64_t checksum_seed_;
  std::uint64_t sequence_ = 0;
};

}  // namespace eindb
