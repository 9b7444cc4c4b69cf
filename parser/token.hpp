#pragma once

#include <cstdint>
#include <string_view>

#include "common/letter_case.hpp"
#include "common/source_span.hpp"

namespace eindb {

/// One word, number, string or symbol of a statement. `text` is the source at `span`, quotes included; it is valid as
/// long as the statement's text. The LexicalRules determine which kinds occur.
struct Token {
  enum class Kind : std::uint8_t {
    End,            ///< the end of the text; for TokenStream also the semicolon that ends the statement
    Unterminated,   ///< an unclosed quote or comment, which extends to the end of the text
    Malformed,      ///< letters in a number (12abc) or in a parameter ($1a), or a lone $
    Word,           ///< an identifier or a keyword; the parser decides by its position
    QuotedName,     ///< "name": never a keyword; in SQL also `name` and [name]
    String,         ///< 'text'
    EscapeString,   ///< E'text\n'
    UnicodeString,  ///< U&'d\0061t'
    DollarString,   ///< $tag$text$tag$
    Bits,           ///< X'0A' or B'01'
    Integer,        ///< digits only, or 0x1F
    Real,           ///< a number with a point or an exponent
    Parameter,      ///< $1
    Operator,       ///< of the characters + - * / < > = ~ ! @ # % ^ & | ? :
    Symbol,         ///< ( ) [ ] { } , ; . and any other character
    NestedComment,  ///< a comment that contains another; SQLite would end it at the first */. Other comments are no
                    ///< tokens
  };

  Kind kind = Kind::End;
  std::string_view text;
  SourceSpan span;

  bool is(Kind wanted) const { return kind == wanted; }
  /// Whether it is this unquoted word, in any case.
  bool is_word(std::string_view word) const { return kind == Kind::Word && equal_ignoring_case(text, word); }
  bool is_symbol() const { return kind == Kind::Operator || kind == Kind::Symbol; }
  /// Whether it is exactly this operator or symbol.
  bool is_symbol(std::string_view symbol) const { return is_symbol() && text == symbol; }
  bool is_symbol(char symbol) const { return is_symbol(std::string_view(&symbol, 1)); }
  bool is_name() const { return kind == Kind::Word || kind == Kind::QuotedName; }
  /// Whether it is this name: as a word in any case, or exactly in quotes.
  bool is_name_of(std::string_view name) const {
    return is_word(name) || (kind == Kind::QuotedName && text.substr(1, text.size() - 2) == name);
  }
  /// Whether it is a string in any form.
  bool is_string() const { return kind >= Kind::String && kind <= Kind::Bits; }
  /// Whether it is a quoted name or a string, which SQLite accepts as a name.
  bool is_quoted() const { return kind == Kind::QuotedName || is_string(); }
  bool is_number() const { return kind == Kind::Integer || kind == Kind::Real; }
};

}  // namespace eindb
