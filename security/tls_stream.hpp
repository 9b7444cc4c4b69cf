#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "security/tls_context.hpp"

struct ssl_st;  // OpenSSL's SSL

namespace eindb {

/// What a socket that does not block has done.
struct SocketProgress {
  enum class Wait : std::uint8_t {
    None,
    Readable,  ///< until the socket can be read
    Writable,  ///< or written
    Never      ///< the connection has ended, or what came is no TLS
  };

  std::size_t bytes = 0;   ///< that were read or written
  Wait wait = Wait::None;  ///< what for, before there are more
};

/// TLS over a socket of somebody else's. Nothing here waits, nor raises SIGPIPE, whether the socket blocks or not. TLS
/// reads and writes the socket itself, rather than buffers in between: one that waits holds none. Used by one thread at
/// a time.
class TlsStream {
 public:
  using Wait = SocketProgress::Wait;

  /// `socket` and `context` outlive the stream.
  TlsStream(int socket, const TlsContext& context, TlsSide side);

  /// Goes on with the beginning of TLS: done, if there is nothing to wait for. Takes a millisecond for some keys.
  Wait greet();
  /// What there is of one record, which has 16 KiB at most.
  SocketProgress read(std::span<std::byte> to);
  SocketProgress write(std::span<const std::byte> from);
  /// Of a connection that waits for Never: what is wrong with it, and whose certificate is refused by whom. Empty where
  /// the other side has ended it without a word.
  const std::string& failure() const { return failure_; }
  /// Says goodbye, if it can be said at once.
  void end() noexcept;
  /// What both sides have in common, and nobody in between: security/certificate_hash.hpp of the server's certificate.
  /// After greet().
  std::string channel_binding() const;

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };

  Wait wait_after(int result);

  std::unique_ptr<ssl_st, Free> tls_;
  const TlsContext& context_;
  TlsSide side_;
  bool may_say_goodbye_ = false;  // TLS has begun, and has not failed
  std::string failure_;
};

}  // namespace eindb
