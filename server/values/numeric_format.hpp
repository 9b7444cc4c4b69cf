#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace eindb {

/// A number as PostgreSQL prints a numeric: without an exponent, rounded to `scale` digits after the point; -1: with
/// the fewest digits that read back as the same double. "NaN", "Infinity", "-Infinity".
void append_numeric(std::string& out, double value, int scale = -1);
void append_numeric(std::string& out, std::int64_t value, int scale = -1);

/// The text of a numeric in PostgreSQL's binary format: digits of base 10,000.
void append_binary_numeric(std::string& out, std::string_view text);

/// A numeric in binary format, as the nearest double. Throws ProtocolError if the value is malformed.
double read_binary_numeric(std::string_view value);

}  // namespace eindb
