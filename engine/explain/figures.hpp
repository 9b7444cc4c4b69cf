#pragma once

#include <string>

namespace eindb {

/// Figures as EXPLAIN writes them: "12,345".
std::string grouped(double value);
/// "12,345", or "1.23e+45".
std::string magnitude(double value);
/// "1.234 ms".
std::string milliseconds(double seconds);
/// How many times the best cost it is; 1 where both are zero.
double cost_ratio(double cost, double best);

}  // namespace eindb
