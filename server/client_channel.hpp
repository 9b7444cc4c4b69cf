#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "security/tls_stream.hpp"

namespace eindb {

/// A client's socket, in the clear or with TLS. Nothing here waits: what the socket cannot do now is told, for the
/// caller to wait until it can. One that waits holds no buffers (asio::ssl::stream has 68 KB of them for each
/// connection). Used by one thread at a time.
class ClientChannel {
 public:
  using Wait = SocketProgress::Wait;
  using Progress = SocketProgress;

  /// `socket` does not block.
  explicit ClientChannel(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}
  ClientChannel(const ClientChannel&) = delete;
  ClientChannel& operator=(const ClientChannel&) = delete;

  /// To wait with.
  boost::asio::ip::tcp::socket& socket() { return socket_; }

  /// From now on all goes through TLS, which begins with greet(). `context` outlives the channel.
  void begin_tls(const TlsContext& context);
  /// Goes on with the beginning of TLS: done, if there is nothing to wait for. Takes a millisecond for some keys.
  Wait greet();

  /// Up to as many bytes as `to` has, which is 16 KiB at least. What came is all given, so that the socket is readable
  /// when there is more.
  Progress read(std::span<char> to);
  /// As many as go now.
  Progress write(std::string_view bytes);
  /// Whether the client has closed its side: nobody waits for an answer any more. Any thread.
  bool has_left() noexcept;
  /// Says goodbye, if it can be said at once.
  void close() noexcept;

 private:
  boost::asio::ip::tcp::socket socket_;
  std::optional<TlsStream> tls_;  // absent in the clear; uses socket_
};

}  // namespace eindb
