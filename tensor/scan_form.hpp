#pragma once

#include <optional>

#include "tensor/einsum.hpp"

namespace eindb {

/// The aggregates of the first cells along a label, of the first two, and so on, or of the last ones:
///
///     Z[i,t] = SUM[s](CASE WHEN s <= t THEN X[i,s] ELSE 0 END)      CUMSUM[s](X[i,s])
///     Z[i,t] = SUM[s](CASE WHEN s >= t THEN G[i,s] ELSE 0 END)      its derivative
///
/// The value beside ELSE is that of no cells at all.
struct ScanForm {
  Label along;            ///< s, which is aggregated
  Label upto;             ///< t, which is in the output
  bool forward = true;    ///< s before t
  bool inclusive = true;  ///< and t itself
};

/// nullopt for any other EinSum. SUM, PROD, MIN and MAX of one operand that has s and lacks t; other labels are in the
/// output.
std::optional<ScanForm> scan_form(const EinSum& einsum, DType compute);

/// The labels over which the kernel of an EinSum does not loop, as others determine their indices or bound them: of an
/// access (tensor/access_form) and of a scan.
Labels skipped_labels(const EinSum& einsum, DType compute);

}  // namespace eindb
