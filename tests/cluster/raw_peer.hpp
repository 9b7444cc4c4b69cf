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

/// Somebody who talks to a node by hand, over a socket that blocks: to send what no node sends.
class RawPeer {
 public:
  explicit RawPeer(std::uint16_t port);

  /// False when the node has closed the connection.
  bool send(std::string_view bytes);
  bool send_bytewise(std::string_view bytes);
  /// Whether the node closes the connection, after what it has to say, within five seconds.
  bool is_closed();

  /// The handshake, `piece` bytes at a time. Throws what Handshake throws.
  void authenticate(const ClusterSecret& secret, ConnectionPurpose purpose, std::size_t piece = 1000);
  /// The bytes of the next frame, as a node would send it. After authenticate().
  std::string frame(const FrameHeader& header, std::string_view head = {}, std::string_view payload = {});
  /// The head of the next frame that the node sends is read and thrown away; it has no payload.
  FrameHeader receive_frame();

 private:
  std::string read(std::size_t count);

  FileDescriptor socket_;
  std::optional<FrameSealer> sealer_;
  std::optional<FrameOpener> opener_;
};

}  // namespace eindb
