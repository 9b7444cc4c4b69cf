#include "server/client_channel.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

// What TLS gives at a time.
constexpr std::size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;

ClientChannel::Wait wait_after(const error_code& error, ClientChannel::Wait wait) {
  if (!error) return ClientChannel::Wait::None;
  return error == boost::asio::error::would_block ? wait : ClientChannel::Wait::Never;
}

// ---- The socket, as OpenSSL sees it: without SIGPIPE, which write(2) brings when a client has gone ------------------

tcp::socket& socket_of(BIO* bio) { return *static_cast<tcp::socket*>(BIO_get_data(bio)); }

int read_socket(BIO* bio, char* to, int size) {
  BIO_clear_retry_flags(bio);
  error_code error;
  const auto count = socket_of(bio).read_some(boost::asio::buffer(to, static_cast<std::size_t>(size)), error);
  if (error == boost::asio::error::would_block) BIO_set_retry_read(bio);
  if (error == boost::asio::error::eof) return 0;
  return error ? -1 : static_cast<int>(count);
}

int write_socket(BIO* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  error_code error;
  const auto count = socket_of(bio).write_some(boost::asio::buffer(from, static_cast<std::size_t>(size)), error);
  if (error == boost::asio::error::would_block) BIO_set_retry_write(bio);
  return error ? -1 : static_cast<int>(count);
}

long control_socket(BIO* /*bio*/, int what, long /*number*/, void* /*pointer*/) {
  return what == BIO_CTRL_FLUSH ? 1 : 0;
}

// One for the program, as OpenSSL's own are.
const BIO_METHOD* socket_method() {
  static const auto method = [] {
    std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> made(
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "client's socket"), &BIO_meth_free);
    CHECK(made != nullptr, "OpenSSL knows another kind of stream");
    BIO_meth_set_read(made.get(), read_socket);
    BIO_meth_set_write(made.get(), write_socket);
    BIO_meth_set_ctrl(made.get(), control_socket);
    return made;
  }();
  return method.get();
}

}  // namespace

void ClientChannel::Free::operator()(ssl_st* tls) const { SSL_free(tls); }

void ClientChannel::begin_tls(const TlsContext& context) {
  tls_.reset(SSL_new(context.handle()));
  auto* bio = BIO_new(socket_method());
  CHECK(tls_ != nullptr && bio != nullptr, "OpenSSL has memory for a connection");
  BIO_set_data(bio, &socket_);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);  // which owns it
  SSL_set_accept_state(tls_.get());
}

// What it takes for SSL_read and the like to go on after `result`.
ClientChannel::Wait ClientChannel::wait_after(int result) {
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_NONE: return Wait::None;
    case SSL_ERROR_WANT_READ: return Wait::Readable;
    case SSL_ERROR_WANT_WRITE: return Wait::Writable;
    default: break;
  }
  may_say_goodbye_ = false;
  return Wait::Never;
}

ClientChannel::Wait ClientChannel::greet() {
  ERR_clear_error();
  const auto wait = wait_after(SSL_do_handshake(tls_.get()));
  may_say_goodbye_ = wait == Wait::None;
  return wait;
}

ClientChannel::Progress ClientChannel::read(std::span<char> to) {
  Progress progress;
  if (tls_ == nullptr) {
    error_code error;
    progress.bytes = socket_.read_some(boost::asio::buffer(to.data(), to.size()), error);
    progress.wait = eindb::wait_after(error, Wait::Readable);
    return progress;
  }
  ERR_clear_error();
  while (progress.wait == Wait::None && to.size() - progress.bytes >= kRecordBytes) {
    std::size_t count = 0;
    const auto rest = to.subspan(progress.bytes);
    progress.wait = wait_after(SSL_read_ex(tls_.get(), rest.data(), rest.size(), &count));
    progress.bytes += count;
  }
  return progress;
}

ClientChannel::Progress ClientChannel::write(std::string_view bytes) {
  Progress progress;
  if (tls_ != nullptr) ERR_clear_error();
  while (progress.wait == Wait::None && progress.bytes < bytes.size()) {
    const auto rest = bytes.substr(progress.bytes);
    if (tls_ != nullptr) {
      std::size_t count = 0;
      progress.wait = wait_after(SSL_write_ex(tls_.get(), rest.data(), rest.size(), &count));
      progress.bytes += count;
    } else {
      error_code error;
      progress.bytes += socket_.write_some(boost::asio::buffer(rest), error);
      progress.wait = eindb::wait_after(error, Wait::Writable);
    }
  }
  return progress;
}

// Also where bytes that it sent before are still to be read.
bool ClientChannel::has_left() noexcept {
  pollfd asked{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;
}

void ClientChannel::close() noexcept {
  if (may_say_goodbye_) SSL_shutdown(tls_.get());
  ERR_clear_error();
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace eindb
