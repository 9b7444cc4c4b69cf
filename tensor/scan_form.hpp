#pragma once

#include <optional>

#include "tensor/einsum.hpp"

namespace eindb {

/// The aggregates of the first cells along a label, of the first two, and so on, or of the last ones:
///
///     Z[i,t] = SUM[s](CASE WHEN s <= t THEN X[i,s] ELSE 0 END)      CUMSUM[s](X[i,s])
///     Z[i,t] = SUM[s](CASE WHEN s >= t THEN G[i,s] ELSE 0 END)      its derivative
///
/// The value beside ELSE is that of no cells at all. A user's aggregate takes the cells in the order of s, whichever
/// way the scan goes.
struct ScanForm {
  Label along;            ///< s, which is aggregated
  Label upto;             ///< t, which is in the output
  bool forward = true;    ///< s before t
  bool inclusive = true;  ///< and t itself
};

/// nullopt for any other EinSum. SUM, PROD, MIN, MAX, LOGSUMEXP and associative aggregates of users, of one operand
/// that has s and lacks t; other labels are in the output.
std::optional<ScanForm> scan_form(const EinSum& einsum, DType compute);

/// The labels that plans do not cut: those that are taken whole (is_whole in tensor/block_form), and those of a scan,
/// which would visit each cell once for every part of the result behind it.
Labels uncut_labels(const EinSum& einsum, DType compute);

/// The labels over which the kernel of an EinSum does not loop, as others determine their indices or bound them: of an
/// access (tensor/access_form) and of a scan.
Labels skipped_labels(const EinSum& einsum, DType compute);

}  // namespace eindb
