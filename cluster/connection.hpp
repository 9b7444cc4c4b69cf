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

/// A connection between two nodes: bytes as long as the handshake goes on, frames from then on. Nothing here waits:
/// what the socket cannot do now is told, for the caller to wait until it can. Payloads are sent from where they lie
/// and received to where they belong; what is small is gathered, so that many frames go in one call of the system.
///
/// Throws Error{WorkerLost} where the connection has ended or is broken, Error{Corrupt} where what came is no frame of
/// this connection; it is of no use then. Used by one thread at a time.
class Connection {
 public:
  using Wait = SocketProgress::Wait;

  /// `peer`: for messages, "10.0.0.3:7700".
  Connection(FileDescriptor socket, std::string peer);

  int socket() const { return socket_.get(); }
  const std::string& peer() const { return peer_; }
  void rename_peer(std::string peer) { peer_ = std::move(peer); }

  /// From now on all goes through TLS, which begins with greet(). `context` outlives the connection.
  void begin_tls(const TlsContext& context, TlsSide side);
  Wait greet();
  /// The first byte that has come, which stays to be read; nullopt: none yet, or the connection has ended. Before
  /// begin_tls().
  std::optional<std::byte> first_byte() const;
  /// Empty without TLS.
  std::string channel_binding() const { return tls_ ? tls_->channel_binding() : std::string(); }

  // ---- Before it is authenticated

  SocketProgress read_bytes(std::span<std::byte> to) { return read_socket(to); }
  SocketProgress write_bytes(std::span<const std::byte> from) { return write_socket(from, {}); }
  void authenticate(const ConnectionKeys& keys);

  // ---- Sending

  /// Whether there is room for another frame.
  bool can_stage() const { return payload_.empty() && staged_.size() - staged_sent_ < kMostStaged; }
  /// Another frame to be sent. Unless it is small, `payload` stays as it is until flush() has sent it or keep_payload()
  /// has copied it.
  void stage(const FrameHeader& header, std::span<const std::byte> head = {}, std::span<const std::byte> payload = {});
  /// Copies what is left of that payload.
  void keep_payload();
  /// Sends what is staged, as far as it goes now: None when all has gone.
  Wait flush();
  bool is_flushed() const { return payload_.empty() && staged_sent_ == staged_.size(); }

  // ---- Receiving

  /// Reads on until the next frame's header and head are there: None.
  Wait fetch_frame();
  /// Those of the frame that fetch_frame() has brought, until the frame is finished; null before.
  const FrameHeader* frame() const { return frame_ ? &*frame_ : nullptr; }
  std::span<const std::byte> head() const {
    CHECK(frame_.has_value(), "a head is that of a frame that has come");
    return std::span(header_).subspan(kFrameHeaderBytes, frame_->head_size);
  }
  /// The frame's payload, to `to`, which has its size, as far as it is there: None when it is all there and is what was
  /// sent.
  Wait fetch_payload(std::span<std::byte> to);
  /// The next frame's turn; all its payload has been fetched.
  void finish_frame();
  /// All that has come: who waits sees by it whether anything does.
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
  std::optional<TlsStream> tls_;  // uses socket_
  std::optional<FrameSealer> sealer_;
  std::optional<FrameOpener> opener_;

  // To be sent: staged_ from staged_sent_ on, then payload_.
  std::vector<std::byte> staged_;
  std::size_t staged_sent_ = 0;
  std::span<const std::byte> payload_;

  // Received: what was read beyond what was asked for; then the frame.
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
