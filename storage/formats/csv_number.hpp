#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace eindb {

/// A field of a CSV file as a number: the whole text, spaces and tabs around it aside. "+5" and "Inf" are numbers, hex
/// is none. A real too large for FLOAT64 is none either; one too small is the nearest.
std::optional<std::int64_t> parse_csv_integer(std::string_view text);
std::optional<double> parse_csv_real(std::string_view text);

}  // namespace eindb
