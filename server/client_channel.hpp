#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "security/tls_stream.hpp"

namespace eindb {

/// A client's socket, in clear text or with TLS. No function waits: each returns what the socket must be ready for
/// before it can continue. A waiting channel holds no buffers (asio::ssl::stream has 68 KB for each connection). Used
/// by one thread at a time.
class ClientChannel {
 public:
  using Wait = SocketProgress::Wait;
  using Progress = SocketProgress;

  /// `socket` must be non-blocking.
  explicit ClientChannel(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}
  ClientChannel(const ClientChannel&) = delete;
  ClientChannel& operator=(const ClientChannel&) = delete;

  /// For waiting.
  boost::asio::ip::tcp::socket& socket() { return socket_; }

  /// Switches to TLS; call greet() next. `context` must outlive the channel.
  void begin_tls(const TlsContext& context);
  /// Continues the TLS handshake. It is complete if there is nothing to wait for. A call takes about a millisecond for
  /// some keys.
  Wait greet();

  /// Reads at most `to.size()` bytes, which must be at least 16 KiB. Returns all decrypted bytes, so the socket is
  /// readable whenever more arrives.
  Progress read(std::span<char> to);
  /// Writes as many bytes as the socket takes now.
  Progress write(std::string_view bytes);
  /// Whether the client has closed its side, so that nobody waits for an answer. Thread-safe.
  bool has_left() noexcept;
  /// Ends the sending side, so that the client reads what was written and then the end. Sends the closing alert of
  /// TLS, if that is possible without waiting. Call drop() or close() next.
  void end_sending() noexcept;
  /// Reads encrypted or clear bytes into `to` and forgets them.
  Wait drop(std::span<char> to);
  /// Ends both sides. If bytes of the client are unread, the system may discard what the client has not read yet.
  void close() noexcept;

 private:
  boost::asio::ip::tcp::socket socket_;
  std::optional<TlsStream> tls_;  // nullopt in clear text; uses socket_
};

}  // namespace eindb
