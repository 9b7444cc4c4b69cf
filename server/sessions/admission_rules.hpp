#pragma once

#include <string>

namespace eindb {

/// How clients are let in.
struct AdmissionRules {
  bool trusts = false;           ///< a database without users lets anybody in
  bool offers_tls = false;       ///< clients may ask for encryption
  bool requires_tls = false;     ///< and must
  std::string certificate_hash;  ///< what passwords are bound to then; empty: to nothing
};

}  // namespace eindb
