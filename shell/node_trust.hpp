#pragma once

#include <optional>
#include <string>

#include "cluster/tcp_node.hpp"

namespace eindb {

/// How a node of a cluster tells other nodes from everybody else: `--secret-file FILE`, certificates, or `--insecure`.
struct NodeTrust {
  std::string secret_file;  ///< empty: none
  TlsOptions tls;           ///< without a certificate: in the clear
  bool insecure = false;    ///< whoever reaches a worker from this machine may do with its tiles what they like
};

/// The certificates; `prefix` is that of their options: "--tls" or "--cluster-tls". Error{Value} if some of them are
/// missing; Error{Permission} without any, without a secret, and without --insecure.
std::optional<TlsOptions> tls_of(const NodeTrust& trust, const std::string& prefix);

}  // namespace eindb
