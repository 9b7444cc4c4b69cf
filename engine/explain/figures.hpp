#pragma once

#include <string>

namespace eindb {

/// Numbers as EXPLAIN writes them: "12,345".
std::string grouped(double value);
/// "12,345", or "1.23e+45".
std::string magnitude(double value);
/// "1.234 ms".
std::string milliseconds(double seconds);
/// The ratio of `cost` to `best`; 1 if both are zero.
double cost_ratio(double cost, double best);

}  // namespace eindb
