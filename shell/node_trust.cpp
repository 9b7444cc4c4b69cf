#include "shell/node_trust.hpp"

#include "common/error.hpp"

namespace eindb {

std::optional<TlsOptions> tls_of(const NodeTrust& trust, const std::string& prefix) {
  const auto& tls = trust.tls;
  if (!tls.certificate.empty() && !tls.key.empty() && !tls.authority.empty()) return tls;
  if (!tls.certificate.empty() || !tls.key.empty() || !tls.authority.empty())
    throw Error(ErrorKind::Value,
                "TLS between nodes takes a certificate, its key and the authority that signs them all", std::nullopt,
                "give " + prefix + "-cert FILE, " + prefix + "-key FILE and " + prefix + "-ca FILE");
  if (trust.secret_file.empty() && !trust.insecure)
    throw Error(ErrorKind::Permission,
                "without a secret whoever reaches a worker's port could read its tiles and remove them", std::nullopt,
                "make one, (umask 077; openssl rand -hex 32 > SECRET), and give all nodes --secret-file SECRET; or "
                "--insecure, if every program on this machine may do that");
  return std::nullopt;
}

}  // namespace eindb
