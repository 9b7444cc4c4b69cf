#pragma once

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// LOGSUMEXP(e) is m + LOG(SUM(EXP(e - m))) with m = MAX(e), or m = 0 if the maximum is infinite, so that infinities
/// are preserved and nothing overflows. These are its parts, given the expressions of e, of MAX(e) and of the SUM.
ScalarPtr shifted_exponential(ScalarPtr e, const ScalarPtr& maximum);
ScalarPtr log_of_shifted_sum(ScalarPtr sum, const ScalarPtr& maximum);

}  // namespace eindb
