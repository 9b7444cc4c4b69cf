#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "security/digest.hpp"

namespace eindb {

/// The version of the handshake and of frames. Nodes of different versions refuse each other.
inline constexpr std::uint16_t kClusterProtocolVersion = 1;

/// The kind of a frame. The numbers are part of the protocol: never reuse one.
enum class FrameKind : std::uint8_t {
  Message = 1,  ///< a piece of a message of a Channel
  Bind = 2,     ///< binds the connection to a statement and two ranks
  Bound = 3,    ///< answers Bind
  Release = 4,  ///< the sender's part in the statement has ended
  Piece = 5,    ///< a piece of a message of a stream
  End = 6,      ///< the end of a stream
  Block = 7,    ///< a piece of a block of a collective operation
  Abort = 8,    ///< the statement has failed
  Alive = 9,    ///< heartbeat of a sender that is still working on the statement
  Probe = 10,   ///< a payload to be returned, between statements, to test the connection
};

/// The fixed-size header of a frame. `head` and payload follow it.
struct FrameHeader {
  FrameKind kind = FrameKind::Message;
  std::uint64_t stream = 0;        ///< number of the statement; 0: a channel
  std::uint64_t total = 0;         ///< bytes of all payloads of the message that the frame belongs to
  std::uint32_t head_size = 0;     ///< at most kMostFrameHead
  std::uint32_t payload_size = 0;  ///< at most kMostFramePayload
  std::uint64_t checksum = 0;      ///< of the payload
};

inline constexpr std::size_t kFrameHeaderBytes = 64;
inline constexpr std::size_t kMostFrameHead = 512;
/// A payload of this size is still in the cache after its checksum is computed, when it is sent and when it was
/// received; a quarter faster than 1 MiB.
inline constexpr std::size_t kMostFramePayload = std::size_t{256} << 10U;

using FrameHeaderBytes = std::array<std::byte, kFrameHeaderBytes>;

/// Creates the headers of the frames that one side of a connection sends, in the order of sending. `key` is the key of
/// the connection and direction. Not thread-safe; does no input or output.
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

/// Reads the headers of frames from a FrameSealer with the same key, each once and in order. Altered, repeated, missing
/// or foreign frames throw Error{Corrupt}; the connection is unusable afterwards. Not thread-safe.
///
/// The checksum of payloads protects against accidents; outsiders cannot compute it. Protection against deliberate
/// changes in transit needs TLS.
class FrameOpener {
 public:
  explicit FrameOpener(const Digest& key);

  /// The number of bytes of head that follow. Error{Corrupt} if this is not a header of this version.
  static std::size_t head_size(const FrameHeaderBytes& bytes);
  /// Verifies everything except the payload.
  FrameHeader open(const FrameHeaderBytes& bytes, std::span<const std::byte> head);
  /// Error{Corrupt} unless the checksum of `payload` matches.
  void check_payload(const FrameHeader& header, std::span<const std::byte> payload) const;

 private:
  Digest key_;
  std::uint64_t checksum_seed_;
  std::uint64_t sequence_ = 0;
};

}  // namespace eindb
