#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

/// The lexical rules of a language. Each reader of statements passes the rules of its language to the tokenizer;
/// spaces, comments and plain strings are the same in all languages.
struct LexicalRules {
  enum class Numbers : std::uint8_t {
    InWords,  ///< digits and $ are letters of words: 12, $1 and 12abc are words, 1.5 is two words and a symbol
    Exact,    ///< 1.5e-3; a number followed by letters is Malformed
    Greedy,   ///< a digit or a point, and all characters that could continue a number: 0x1F, 1_000
  };
  enum class Operators : std::uint8_t {
    Bytes,     ///< each byte is an operator
    Eindb,     ///< <= >= <> != == << >> are single operators
    Sqlite,    ///< those of SQLite, such as || and ->>
    Postgres,  ///< the longest run of characters, such as !~* and ::
  };

  bool unicode_names = false;    ///< names have letters of any script, as in utf8.hpp; otherwise any byte beyond ASCII
  bool bracketed_names = false;  ///< [name], closed on the same line
  bool nested_comments = false;  ///< comments nest
  bool dollar_strings = false;   ///< $tag$text$tag$; $1abc is the parameter $1 followed by a word
  std::string_view name_quotes{};  ///< quotes around names
  std::string_view prefixes{};     ///< letters among B, E, U and X that prefix special strings: X'0A'
  Numbers numbers = Numbers::InWords;
  Operators operators = Operators::Bytes;
};

/// Rules for any statement: just enough to find words, quotes and parentheses in the dialects of both SQLite and eindb.
inline constexpr LexicalRules kCoarseRules{.bracketed_names = true, .name_quotes = "\"`"};

/// eindb's own statements; brackets are symbols.
inline constexpr LexicalRules kEindbRules{.unicode_names = true,
                                          .name_quotes = "\"",
                                          .numbers = LexicalRules::Numbers::Exact,
                                          .operators = LexicalRules::Operators::Eindb};

/// SQLite's dialect.
inline constexpr LexicalRules kSqliteRules{.bracketed_names = true,
                                           .name_quotes = "\"`",
                                           .prefixes = "X",
                                           .numbers = LexicalRules::Numbers::Greedy,
                                           .operators = LexicalRules::Operators::Sqlite};

/// PostgreSQL's dialect, plus names in backticks.
inline constexpr LexicalRules kPostgresRules{.nested_comments = true,
                                             .dollar_strings = true,
                                             .name_quotes = "\"`",
                                             .prefixes = "BEUX",
                                             .numbers = LexicalRules::Numbers::Greedy,
                                             .operators = LexicalRules::Operators::Postgres};

}  // namespace eindb
