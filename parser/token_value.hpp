#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "parser/token.hpp"

namespace eindb {

/// The value of a QuotedName or a String: without quotes, and with doubled quotes made single.
std::string unquote(const Token& token);

/// The value of a string literal of any form. Invalid escapes are left unchanged. As in PostgreSQL, E'\xE2\x82\xAC'
/// gives bytes and E'\u20AC' a character; the caller checks for valid UTF-8 (is_utf8) where it is required.
std::string string_value(const Token& token);

/// The value of an Integer or Real token: an integer if it is written as one and fits 64 bits. Error{Syntax} for a
/// number beyond FLOAT64; a number too small becomes 0.
std::variant<std::int64_t, double> number_value(const Token& token);

/// The number of a parameter, 12 for "$12"; 0 for any other text.
std::size_t parameter_number(std::string_view text);

/// The text in single quotes, with quotes inside doubled.
std::string quote_string(std::string_view text);

}  // namespace eindb
