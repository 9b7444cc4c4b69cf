#pragma once

#include <optional>
#include <string>

#include "cluster/tcp_node.hpp"

namespace eindb {

/// The authentication among nodes of a cluster: `--secret-file FILE`, certificates, or `--insecure`.
struct NodeTrust {
  std::string secret_file;  ///< empty: none
  TlsOptions tls;           ///< without a certificate: clear text
  bool insecure = false;    ///< every local process that reaches a worker has full access to its tiles
};

/// The certificates; `prefix` begins the names of their options: "--tls" or "--cluster-tls". Error{Value} if some of
/// them are missing; Error{Permission} if there are neither certificates nor a secret nor --insecure.
std::optional<TlsOptions> tls_of(const NodeTrust& trust, const std::string& prefix);

}  // namespace eindb
