#include "security/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <system_error>

#include "common/caught_error.hpp"
#include "common/error.hpp"
#include "security/certificate_hash.hpp"
#include "security/openssl.hpp"
#include "security/private_file.hpp"

namespace eindb {
namespace {

// OpenSSL's message for its last error; earlier errors are discarded.
std::string last_reason() {
  const auto code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "nothing is in it";
  // OpenSSL has no messages for errors of the operating system.
  if (ERR_SYSTEM_ERROR(code) != 0) return std::system_category().message(ERR_GET_REASON(code));
  const auto* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "error " + std::to_string(code) : reason;
}

// OpenSSL returns null if there is no memory.
ssl_ctx_st* made(ssl_ctx_st* context) {
  if (context != nullptr) return context;
  ERR_clear_error();
  throw out_of_memory("TLS");
}

// Rejects a key with a passphrase instead of asking for it at a terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*unused*/) { return 0; }

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

TlsContext::TlsContext(const TlsOptions& options, TlsSide side)
    : context_(made((openssl(), SSL_CTX_new(side == TlsSide::Server ? TLS_server_method() : TLS_client_method())))) {
  auto* context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(
      context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Idle connections hold no buffers; writes may be partial, and be repeated from a buffer that has moved.
  SSL_CTX_set_mode(context,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  use_certificate(options.certificate);
  use_key(options.key);
  if (!options.authority.empty()) require_certificates(options.authority);
}

void TlsContext::use_certificate(const std::string& path) {
  check_readable_file(path, "certificate");
  if (SSL_CTX_use_certificate_chain_file(context_.get(), path.c_str()) != 1)
    throw Error(ErrorKind::Value, "'" + path + "' is no certificate in PEM form: " + last_reason());
  certificate_hash_ = eindb::certificate_hash(*SSL_CTX_get0_certificate(context_.get()));
}

void TlsContext::use_key(const std::string& path) {
  check_private_file(path, "key");
  if (SSL_CTX_use_PrivateKey_file(context_.get(), path.c_str(), SSL_FILETYPE_PEM) == 1) return;
  if (ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH) {
    ERR_clear_error();
    throw Error(ErrorKind::Value, "the key '" + path + "' is not that of the certificate");
  }
  throw Error(ErrorKind::Value, "'" + path + "' is no key in PEM form: " + last_reason(), std::nullopt,
              "a key with a passphrase is written without it by: openssl pkey -in " + path + " -out FILE");
}

void TlsContext::require_certificates(const std::string& path) {
  check_readable_file(path, "authority's certificate");
  auto* names = SSL_load_client_CA_file(path.c_str());
  if (names == nullptr || SSL_CTX_load_verify_file(context_.get(), path.c_str()) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    throw Error(ErrorKind::Value, "'" + path + "' is no certificate in PEM form: " + last_reason());
  }
  SSL_CTX_set_client_CA_list(context_.get(), names);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

}  // namespace eindb
