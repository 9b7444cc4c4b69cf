#pragma once

#include <string>
#include <string_view>

#include "engine/results/result.hpp"

namespace eindb {

/// The value as text: integers in decimal; floating-point numbers in the fewest digits that read back as the same
/// value, always with a point or an exponent ("1.0", "0.1", "1e+22", "inf", "-inf", "nan"); complex numbers as
/// "1.5-2.0j"; text unchanged; bytes as "\x6162"; `null` for NULL.
std::string cell_text(const Cell& cell, std::string_view null = "");

/// As cell_text, appended to `out`.
void append_cell_text(std::string& out, const Cell& cell, std::string_view null = "");

/// True for integers and for real and complex numbers.
bool is_number(const Cell& cell);

}  // namespace eindb
