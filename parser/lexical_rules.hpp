#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

/// The lexical forms that a language has. Every reader of statements takes the tokenizer with the rules of the language
/// that it expects; space, comments and plain strings are the same in all of them.
struct LexicalRules {
  enum class Numbers : std::uint8_t {
    InWords,  ///< digits and $ are letters of words: 12, $1 and 12abc are words, 1.5 is two of them and a symbol
    Exact,    ///< 1.5e-3, and letters that follow make it Malformed
    Greedy,   ///< a digit or a point, and all that could continue any number: 0x1F, 1_000
  };
  enum class Operators : std::uint8_t {
    Bytes,     ///< each byte is one
    Eindb,     ///< <= >= <> != == are one
    Sqlite,    ///< as those of SQLite, such as || and ->>
    Postgres,  ///< the longest run of characters, such as !~* and ::
  };

  bool unicode_names = false;    ///< names have letters of any script, as in utf8.hpp; otherwise any byte beyond ASCII
  bool bracketed_names = false;  ///< [name], closed in its line
  bool nested_comments = false;  ///< a comment ends when those inside of it have ended
  bool dollar_strings = false;   ///< $tag$text$tag$; the digits of $1abc end before its letters
  std::string_view name_quotes{};  ///< the quotes that names have
  std::string_view prefixes{};     ///< of B, E, U and X, those that make another kind of a string: X'0A'
  Numbers numbers = Numbers::InWords;
  Operators operators = Operators::Bytes;
};

/// Any statement, cut coarsely: just enough to see words, quotes and parentheses in SQLite's dialect and eindb's alike.
inline constexpr LexicalRules kCoarseRules{.bracketed_names = true, .name_quotes = "\"`"};

/// eindb's own statements. Brackets are symbols.
inline constexpr LexicalRules kEindbRules{.unicode_names = true,
                                          .name_quotes = "\"",
                                          .numbers = LexicalRules::Numbers::Exact,
                                          .operators = LexicalRules::Operators::Eindb};

/// SQL as SQLite reads it.
inline constexpr LexicalRules kSqliteRules{.bracketed_names = true,
                                           .name_quotes = "\"`",
                                           .prefixes = "X",
                                           .numbers = LexicalRules::Numbers::Greedy,
                                           .operators = LexicalRules::Operators::Sqlite};

/// SQL as PostgreSQL reads it, and `name` besides.
inline constexpr LexicalRules kPostgresRules{.nested_comments = true,
                                             .dollar_strings = true,
                                             .name_quotes = "\"`",
                                             .prefixes = "BEUX",
                                             .numbers = LexicalRules::Numbers::Greedy,
                                             .operators = LexicalRules::Operators::Postgres};

}  // namespace eindb
