#pragma once

#include <cstdint>
#include <string_view>

#include "common/letter_case.hpp"
#include "common/source_span.hpp"

namespace eindb {

/// One word, number, string or symbol of a statement, as the tokenizer cuts it. `text` is the source at `span`, quotes
/// included; it lives as long as the statement's text. Which kinds occur depends on the LexicalRules.
struct Token {
  enum class Kind : std::uint8_t {
    End,            ///< the end of the text; to TokenStream also the semicolon that ends the statement
    Unterminated,   ///< a quote or a comment that is not closed; the text ends with it
    Malformed,      ///< letters in a number (12abc) or in a parameter ($1a), or a $ alone
    Word,           ///< an identifier or a keyword: the parser knows which by its place
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
    NestedComment,  ///< a comment with another inside, which SQLite would end at the first */; others are no tokens
  };

  Kind kind = Kind::End;
  std::string_view text;
  SourceSpan span;

  bool is(Kind wanted) const { return kind == wanted; }
  /// An unquoted word, in any case of letters.
  bool is_word(std::string_view word) const { return kind == Kind::Word && equal_ignoring_case(text, word); }
  bool is_symbol() const { return kind == Kind::Operator || kind == Kind::Symbol; }
  /// An operator or another symbol that reads exactly so.
  bool is_symbol(std::string_view symbol) const { return is_symbol() && text == symbol; }
  bool is_symbol(char symbol) const { return is_symbol(std::string_view(&symbol, 1)); }
  bool is_name() const { return kind == Kind::Word || kind == Kind::QuotedName; }
  /// The name, as a word in any case of letters or in quotes exactly so.
  bool is_name_of(std::string_view name) const {
    return is_word(name) || (kind == Kind::QuotedName && text.substr(1, text.size() - 2) == name);
  }
  /// A literal that is a string in any of its forms.
  bool is_string() const { return kind >= Kind::String && kind <= Kind::Bits; }
  /// A name in quotes, or a string, which SQLite takes for a name where it expects one.
  bool is_quoted() const { return kind == Kind::QuotedName || is_string(); }
  bool is_number() const { return kind == Kind::Integer || kind == Kind::Real; }
};

}  // namespace eindb
