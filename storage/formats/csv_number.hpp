#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace eindb {

/// Parses a field of a CSV file as a number, ignoring spaces and tabs around it. "+5" and "Inf" are numbers;
/// hexadecimal numbers are not, nor are reals too large for FLOAT64. Reals that are too small become the nearest
/// FLOAT64.
std::optional<std::int64_t> parse_csv_integer(std::string_view text);
std::optional<double> parse_csv_real(std::string_view text);

}  // namespace eindb
