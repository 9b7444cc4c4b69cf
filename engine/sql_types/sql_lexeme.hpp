#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/letter_case.hpp"

namespace eindb {

/// A piece of SQL as SQLite's grammar has it.
struct SqlLexeme {
  enum class Kind : std::uint8_t { End, Word, Name, String, Blob, Integer, Real, Parameter, Operator };

  Kind kind = Kind::End;
  std::string text;           ///< of names and strings without quotes
  std::size_t parameter = 0;  ///< 3 of "$3"

  bool is(Kind wanted) const { return kind == wanted; }
  bool is_word(std::string_view word) const { return kind == Kind::Word && equal_ignoring_case(text, word); }
  bool is_operator(std::string_view op) const { return kind == Kind::Operator && text == op; }
};

/// Cuts SQLite's SQL into lexemes, the last of which is the End. nullopt for what is not closed, and for parameters
/// that are not written $1.
std::optional<std::vector<SqlLexeme>> sql_lexemes(std::string_view sql);

}  // namespace eindb
