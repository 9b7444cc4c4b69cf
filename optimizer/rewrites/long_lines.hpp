#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Takes scans (tensor/scan_form) and recurrences (tensor/block_function) along labels of many indices apart, so that
/// no call holds a whole line, and each takes time proportional to its cells. A line becomes blocks, which are indices
/// of a label that is cut, spilled and spread over workers as any other one; a scan of the aggregates of whole blocks
/// says what comes before each of them, and is combined with the scan inside the block:
///
///     X'[p,q] = X[(p,q)],  T[p] = AGG[q](X'[p,q]),  E[p] = AGG[r](T[r] where r < p),
///     Z[(p,q)] = E[p] joined with AGG[r](X'[p,r] where r <= q)
///
/// (G. Blelloch, Prefix sums and their applications, 1990, section 1.2). A recurrence h[t] = a[t] * h[t-1] + x[t] does
/// the same with pairs: a block takes what comes before it to F[p] times that, F[p] the product of its factors, and
/// adds what it gives beginning with nothing. What comes before a block is added to its first value, and the block
/// computed again. A user's aggregate f that distributes over o does so with h[t] = f(a[t] o h[t-1], x[t]). Products of
/// factors beyond the range of floating-point numbers are taken for the greatest number, but for a user's o.
EinGraph cut_long_lines(const EinGraph& graph);

}  // namespace eindb
