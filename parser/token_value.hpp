#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "parser/token.hpp"

namespace eindb {

/// The value of a QuotedName or a String: without its quotes, doubled quotes made single.
std::string unquote(const Token& token);

/// The value of a string literal in any of its forms. Escapes that are none stay as they are. As in PostgreSQL,
/// E'\xE2\x82\xAC' gives bytes and E'\u20AC' a character: the caller checks that the bytes are UTF-8 (is_utf8) where
/// they have to be.
std::string string_value(const Token& token);

/// The value of an Integer or Real token: an integer if it is written as one and fits 64 bits. Throws Error{Syntax} for
/// a number beyond FLOAT64; one too small for it is 0.
std::variant<std::int64_t, double> number_value(const Token& token);

/// The number of a parameter, 12 of "$12"; 0 for anything else.
std::size_t parameter_number(std::string_view text);

/// 'text' with quotes doubled.
std::string quote_string(std::string_view text);

}  // namespace eindb
