#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "security/tls_context.hpp"

struct ssl_st;  // OpenSSL's SSL

namespace eindb {

/// The progress of an operation on a non-blocking socket.
struct SocketProgress {
  enum class Wait : std::uint8_t {
    None,
    Readable,  ///< wait until the socket is readable
    Writable,  ///< wait until it is writable
    Never      ///< the connection has ended, or the peer does not speak TLS
  };

  std::size_t bytes = 0;   ///< bytes read or written
  Wait wait = Wait::None;  ///< the event to wait for before trying again
};

/// TLS over a socket owned by the caller. No function waits or raises SIGPIPE, whether or not the socket blocks. TLS
/// reads and writes the socket directly instead of through buffers, so an idle stream holds none. Used by one thread at
/// a time.
class TlsStream {
 public:
  using Wait = SocketProgress::Wait;

  /// `socket` and `context` must outlive the stream.
  TlsStream(int socket, const TlsContext& context, TlsSide side);

  /// Continues the handshake; it is done when there is nothing to wait for. Takes a millisecond for some keys.
  Wait greet();
  /// Reads what is available of one record, which has 16 KiB at most.
  SocketProgress read(std::span<std::byte> to);
  SocketProgress write(std::span<const std::byte> from);
  /// The reason for Wait::Never, including whose certificate was refused by whom. Empty if the other side closed the
  /// connection silently.
  const std::string& failure() const { return failure_; }
  /// Sends the closing message if that is possible without waiting.
  void end() noexcept;
  /// The channel binding, known only to the two ends of the connection: security/certificate_hash.hpp of the server's
  /// certificate. Valid after greet().
  std::string channel_binding() const;

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };

  void begin_call() noexcept;
  Wait wait_after(int result);

  std::unique_ptr<ssl_st, Free> tls_;
  const TlsContext& context_;
  TlsSide side_;
  bool may_say_goodbye_ = false;  // the handshake has begun, and nothing has failed
  std::string failure_;
};

}  // namespace eindb
