#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/frame.hpp"
#include "cluster/handshake.hpp"
#include "common/file_descriptor.hpp"

namespace eindb {

/// A peer that a test controls over a blocking socket, to send data that no node sends.
class RawPeer {
 public:
  explicit RawPeer(std::uint16_t port);

  /// False if the node has closed the connection.
  bool send(std::string_view bytes);
  bool send_bytewise(std::string_view bytes);
  /// Whether the node closes the connection, after its last output, within five seconds.
  bool is_closed();

  /// Runs the handshake, `piece` bytes at a time. Throws the errors of Handshake.
  void authenticate(const ClusterSecret& secret, ConnectionPurpose purpose, std::size_t piece = 1000);
  /// The bytes of the next frame as a node would send it. Call after authenticate().
  std::string frame(const FrameHeader& header, std::string_view head = {}, std::string_view payload = {});
  /// Receives the next frame and discards its head; it must have no payload.
  FrameHeader receive_frame();

 private:
  std::string read(std::size_t count);

  FileDescriptor socket_;
  std::optional<FrameSealer> sealer_;
  std::optional<FrameOpener> opener_;
};

}  // namespace eindb
