#include "server/http/http_stream.hpp"

#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace eindb {

namespace asio = boost::asio;

void HttpStream::begin_tls(const TlsContext& context, asio::const_buffer read, Then then) {
  ::SSL_CTX_up_ref(context.handle());
  asio::ssl::context shared(context.handle());
  tls_.emplace(tcp_, shared);
  tls_->async_handshake(asio::ssl::stream_base::server, read, std::move(then));
}

void HttpStream::read_some(asio::mutable_buffer room, Then then) {
  if (tls_) tls_->async_read_some(room, std::move(then));
  else tcp_.async_read_some(room, std::move(then));
}

void HttpStream::write(std::array<asio::const_buffer, 2> bytes, Then then) {
  if (tls_) asio::async_write(*tls_, bytes, std::move(then));
  else asio::async_write(tcp_, bytes, std::move(then));
}

}  // namespace eindb
