#include "security/tls_stream.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <new>

#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "security/certificate_hash.hpp"

namespace eindb {
namespace {

// ---- The socket as a BIO of OpenSSL: without SIGPIPE, which write(2) raises if the peer has closed ------------------

int socket_of(BIO* bio) {
  int socket = -1;
  BIO_get_fd(bio, &socket);
  return socket;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int read_socket(BIO* bio, char* to, int size) {
  BIO_clear_retry_flags(bio);
  const auto count = ::recv(socket_of(bio), to, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (count < 0 && would_block()) BIO_set_retry_read(bio);
  return static_cast<int>(count);
}

int write_socket(BIO* bio, const char* from, int size) {
  BIO_clear_retry_flags(bio);
  const auto count = ::send(socket_of(bio), from, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0 && would_block()) BIO_set_retry_write(bio);
  return static_cast<int>(count);
}

long control_socket(BIO* bio, int what, long /*number*/, void* pointer) {
  if (what == BIO_C_GET_FD) {
    *static_cast<int*>(pointer) = *static_cast<int*>(BIO_get_data(bio));
    return 1;
  }
  return what == BIO_CTRL_FLUSH ? 1 : 0;
}

int forget_socket(BIO* bio) {
  delete static_cast<int*>(BIO_get_data(bio));
  return 1;
}

// One for the process, like OpenSSL's own methods.
const BIO_METHOD* socket_method() {
  static const auto method = [] {
    std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> made(
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "quiet socket"), &BIO_meth_free);
    if (made == nullptr) throw out_of_memory("TLS");
    BIO_meth_set_read(made.get(), read_socket);
    BIO_meth_set_write(made.get(), write_socket);
    BIO_meth_set_ctrl(made.get(), control_socket);
    BIO_meth_set_destroy(made.get(), forget_socket);
    return made;
  }();
  return method.get();
}

// ---- Messages for failed connections --------------------------------------------------------------------------------

/// A message for the last error, which may be the alert that the other side sent before closing.
std::string failure_of(const ssl_st& tls) {
  const auto verified = SSL_get_verify_result(&tls);
  if (verified != X509_V_OK)
    return std::string("its certificate is refused: ") + X509_verify_cert_error_string(verified);
  const auto code = ERR_peek_last_error();
  if (ERR_GET_LIB(code) != ERR_LIB_SSL || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return {};
  const auto reason = ERR_GET_REASON(code);
  if (reason > SSL_AD_REASON_OFFSET)
    return std::string("it refuses this side's certificate or TLS: ") +
           SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET);
  const auto* words = ERR_reason_error_string(code);
  return words == nullptr ? "error " + std::to_string(code) : words;
}

}  // namespace

void TlsStream::Free::operator()(ssl_st* tls) const { SSL_free(tls); }

TlsStream::TlsStream(int socket, const TlsContext& context, TlsSide side)
    : tls_(SSL_new(context.handle())), context_(context), side_(side) {
  auto number = std::make_unique<int>(socket);
  auto* bio = tls_ == nullptr ? nullptr : BIO_new(socket_method());
  if (bio == nullptr) {
    ERR_clear_error();
    throw out_of_memory("a connection with TLS");
  }
  BIO_set_data(bio, number.release());
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);  // takes ownership of bio
  if (side == TlsSide::Server) SSL_set_accept_state(tls_.get());
  else SSL_set_connect_state(tls_.get());
}

// The event that SSL_read and other calls need before they can continue after `result`.
TlsStream::Wait TlsStream::wait_after(int result) {
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_NONE: return Wait::None;
    case SSL_ERROR_WANT_READ: return Wait::Readable;
    case SSL_ERROR_WANT_WRITE: return Wait::Writable;
    default: break;
  }
  may_say_goodbye_ = false;
  try {
    failure_ = failure_of(*tls_);
  } catch (const std::bad_alloc&) {  // the failure has no message
    failure_.clear();
  }
  return Wait::Never;
}

// Forgets errors and waits of earlier calls. A call on a broken handshake reports neither, and SSL_get_error would then
// find the earlier wait again, forever.
void TlsStream::begin_call() noexcept {
  ERR_clear_error();
  BIO_clear_retry_flags(SSL_get_rbio(tls_.get()));
}

TlsStream::Wait TlsStream::greet() {
  begin_call();
  const auto wait = wait_after(SSL_do_handshake(tls_.get()));
  may_say_goodbye_ = wait == Wait::None;
  return wait;
}

SocketProgress TlsStream::read(std::span<std::byte> to) {
  begin_call();
  SocketProgress progress;
  progress.wait = wait_after(SSL_read_ex(tls_.get(), to.data(), to.size(), &progress.bytes));
  return progress;
}

SocketProgress TlsStream::write(std::span<const std::byte> from) {
  begin_call();
  SocketProgress progress;
  progress.wait = wait_after(SSL_write_ex(tls_.get(), from.data(), from.size(), &progress.bytes));
  return progress;
}

void TlsStream::end() noexcept {
  if (may_say_goodbye_) SSL_shutdown(tls_.get());
  ERR_clear_error();
}

std::string TlsStream::channel_binding() const {
  if (side_ == TlsSide::Server) return context_.certificate_hash();
  auto* certificate = SSL_get0_peer_certificate(tls_.get());
  CHECK(certificate != nullptr, "a server of TLS has a certificate");
  return certificate_hash(*certificate);
}

}  // namespace eindb
