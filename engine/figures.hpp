#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace eindb {

/// Figures as EXPLAIN writes them: "12,345".
std::string grouped(double value);
/// "12,345", or "1.23e+45".
std::string magnitude(double value);
/// "1.234 ms".
std::string milliseconds(double seconds);
/// As a whole number where it is one that a double holds exactly.
nlohmann::ordered_json number_of(double value);

}  // namespace eindb
