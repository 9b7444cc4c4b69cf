#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/frame.hpp"
#include "cluster/handshake.hpp"
#include "common/check.hpp"
#include "common/file_descriptor.hpp"
#include "security/tls_stream.hpp"

namespace eindb {

/// A connection between two nodes. It carries bytes during the handshake and frames afterwards. No function waits: each
/// returns what the socket must be ready for before it can continue. Payloads are sent from and received into the
/// caller's memory; small data is buffered, so that one system call handles many frames.
///
/// Throws Error{WorkerLost} if the connection has ended or is broken, Error{Corrupt} for bytes that are not a valid
/// frame of this connection; it is unusable afterwards. Used by one thread at a time.
class Connection {
 public:
  using Wait = SocketProgress::Wait;

  /// `peer` is the peer's name for messages: "10.0.0.3:7700".
  Connection(FileDescriptor socket, std::string peer);

  int socket() const { return socket_.get(); }
  const std::string& peer() const { return peer_; }
  void rename_peer(std::string peer) { peer_ = std::move(peer); }

  /// Switches to TLS; call greet() next. `context` must outlive the connection.
  void begin_tls(const TlsContext& context, TlsSide side);
  Wait greet();
  /// The first received byte, which stays unread; nullopt if there is none yet or the connection has ended. Only before
  /// begin_tls().
  std::optional<std::byte> first_byte() const;
  /// Empty without TLS.
  std::string channel_binding() const { return tls_ ? tls_->channel_binding() : std::string(); }

  // ---- Before it is authenticated

  SocketProgress read_bytes(std::span<std::byte> to) { return read_socket(to); }
  SocketProgress write_bytes(std::span<const std::byte> from) { return write_socket(from, {}); }
  void authenticate(const ConnectionKeys& keys);

  // ---- Sending

  /// Whether another frame can be staged.
  bool can_stage() const { return payload_.empty() && staged_.size() - staged_sent_ < kMostStaged; }
  /// Stages a frame for sending. A large `payload` must stay unchanged until flush() has sent it or keep_payload() has
  /// copied it.
  void stage(const FrameHeader& header, std::span<const std::byte> head = {}, std::span<const std::byte> payload = {});
  /// Copies the unsent part of that payload.
  void keep_payload();
  /// Sends staged frames as far as possible now; None once all are sent.
  Wait flush();
  bool is_flushed() const { return payload_.empty() && staged_sent_ == staged_.size(); }

  // ---- Receiving

  /// Reads until the header and head of the next frame are complete; then returns None.
  Wait fetch_frame();
  /// The header of the frame from fetch_frame(), until finish_frame(); null if there is none. head() is valid as long.
  const FrameHeader* frame() const { return frame_ ? &*frame_ : nullptr; }
  std::span<const std::byte> head() const {
    CHECK(frame_.has_value(), "a head is that of a frame that has come");
    return std::span(header_).subspan(kFrameHeaderBytes, frame_->head_size);
  }
  /// Reads the frame's payload into `to`, which must have its size. Returns None once it is complete and its checksum
  /// is verified.
  Wait fetch_payload(std::span<std::byte> to);
  /// Ends the current frame; all of its payload must have been fetched.
  void finish_frame();
  /// The total number of bytes received, which shows whether anything arrives.
  std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  static constexpr std::size_t kMostStaged = std::size_t{64} << 10U;
  static constexpr std::size_t kSmallPayload = std::size_t{16} << 10U;
  static constexpr std::size_t kReadAhead = std::size_t{16} << 10U;

  SocketProgress read(std::span<std::byte> to);
  SocketProgress read_socket(std::span<std::byte> to);
  SocketProgress read_plain(std::span<std::byte> to);
  SocketProgress write_socket(std::span<const std::byte> first, std::span<const std::byte> second);
  SocketProgress write_tls(std::span<const std::byte> first, std::span<const std::byte> second);
  SocketProgress write_plain(std::span<const std::byte> first, std::span<const std::byte> second);
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_tls(const std::string& what) const;

  FileDescriptor socket_;
  std::string peer_;
  std::optional<TlsStream> tls_;  // nullopt without TLS; uses socket_
  std::optional<FrameSealer> sealer_;
  std::optional<FrameOpener> opener_;

  // To send: staged_ from staged_sent_ on, then payload_.
  std::vector<std::byte> staged_;
  std::size_t staged_sent_ = 0;
  std::span<const std::byte> payload_;

  // Received: bytes read ahead, then the current frame.
  std::vector<std::byte> ahead_;
  std::size_t ahead_begin_ = 0;
  std::size_t ahead_end_ = 0;
  std::array<std::byte, kFrameHeaderBytes + kMostFrameHead> header_{};
  std::size_t header_received_ = 0;
  std::size_t payload_received_ = 0;
  std::uint64_t bytes_received_ = 0;
  std::optional<FrameHeader> frame_;
};

}  // namespace eindb
