#pragma once

#include <cstdint>
#include <string_view>

#include "common/letter_case.hpp"
#include "common/source_span.hpp"

namespace eindb {

/// One word, number, string or symbol of a statement, as the lexer cuts it. `text` is the source at `span`, quotes
/// included; it lives as long as the statement's text.
struct Token {
  enum class Kind : std::uint8_t {
    End,         ///< the end of the text, or the semicolon that ends the statement
    Word,        ///< an identifier or a keyword: the parser knows which by its place
    QuotedWord,  ///< "name": never a keyword
    String,      ///< 'text'
    Integer,     ///< digits only
    Real,        ///< with a point or an exponent
    Parameter,   ///< $1
    Symbol,      ///< ( ) [ ] , = == <> != < <= > >= + - * / % ^ . and, in the head of a loop, { }
  };

  Kind kind = Kind::End;
  std::string_view text;
  SourceSpan span;
};

}  // namespace eindb
