#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <functional>
#include <optional>

#include "security/tls_context.hpp"

namespace eindb {

/// The bytes of an HTTP connection: in clear text, or by TLS once that has begun. One read and one write may be on the
/// way at a time; time limits are those of tcp(). The stream must live until what was begun has ended. Used by the
/// endpoint's thread.
///
/// All operations end in a handler of one type: Asio's templates take seconds to compile for each type.
class HttpStream {
 public:
  /// Is called with the error, if any, and the number of bytes that were read or written.
  using Then = std::function<void(const boost::system::error_code&, std::size_t)>;

  explicit HttpStream(boost::asio::ip::tcp::socket socket) : tcp_(std::move(socket)) {}

  boost::beast::tcp_stream& tcp() { return tcp_; }
  bool is_encrypted() const { return tls_.has_value(); }

  /// Begins TLS as its server. `read`: the first bytes of the client that were read before, which must live until
  /// then.
  void begin_tls(const TlsContext& context, boost::asio::const_buffer read, Then then);
  /// Reads at least one byte into `room`.
  void read_some(boost::asio::mutable_buffer room, Then then);
  /// Writes all bytes of both buffers, which must live until then.
  void write(std::array<boost::asio::const_buffer, 2> bytes, Then then);

 private:
  boost::beast::tcp_stream tcp_;
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
};

}  // namespace eindb
