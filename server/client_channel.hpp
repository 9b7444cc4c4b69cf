#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "server/tls_context.hpp"

struct ssl_st;  // OpenSSL's SSL

namespace eindb {

/// A client's socket, in the clear or with TLS. Nothing here waits: what the socket cannot do now is told, for the
/// caller to wait until it can.
///
/// TLS reads and writes the socket itself, rather than buffers in between (asio::ssl::stream has 68 KB of them for each
/// connection): one that waits holds none. Used by one thread at a time.
class ClientChannel {
 public:
  enum class Wait : std::uint8_t {
    None,
    Readable,  ///< until the socket can be read
    Writable,  ///< or written
    Never      ///< the connection has ended, or what came is no TLS
  };
  struct Progress {
    std::size_t bytes = 0;   ///< that were read or written
    Wait wait = Wait::None;  ///< what for, before there are more
  };

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
  struct Free {
    void operator()(ssl_st* tls) const;
  };

  Wait wait_after(int result);

  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<ssl_st, Free> tls_;  // null in the clear; uses socket_
  bool may_say_goodbye_ = false;       // TLS has begun, and has not failed
};

}  // namespace eindb
