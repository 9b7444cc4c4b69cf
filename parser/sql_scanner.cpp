#include "parser/sql_scanner.hpp"

#include <algorithm>

#include "common/poll_steps.hpp"

namespace eindb {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80U;
}

}  // namespace

SqlToken SqlScanner::next() {
  skip_space_and_line_comments();
  while (text_.substr(std::min(offset_, text_.size()), 2) == "/*") {
    const auto close = text_.find("*/", offset_ + 2);
    if (close == std::string_view::npos) return take(SqlToken::Kind::Unterminated, text_.size());
    offset_ = close + 2;
    skip_space_and_line_comments();
  }
  if (offset_ >= text_.size()) return {SqlToken::Kind::End, {}, {text_.size(), text_.size()}};
  const char c = text_[offset_];
  if (c == '\'' || c == '"' || c == '`') return take_quoted(c);
  if (c == '[') {
    const auto close = line_or_bracket_end();
    if (close < text_.size() && text_[close] == ']') return take(SqlToken::Kind::Quoted, close + 1);
  }
  if (!is_word_byte(c)) return take(SqlToken::Kind::Symbol, offset_ + 1);
  const auto* const end = std::find_if_not(text_.begin() + offset_, text_.end(), is_word_byte);
  return take(SqlToken::Kind::Word, static_cast<std::size_t>(end - text_.begin()));
}

void SqlScanner::skip_space_and_line_comments() {
  while (offset_ < text_.size()) {
    if (text_.substr(offset_, 2) == "--") offset_ = std::min(text_.find('\n', offset_), text_.size());
    else if (is_space(text_[offset_])) ++offset_;
    else return;
  }
}

// The next ']' or end of the line. Brackets that do not close share it, so that the text is searched once.
std::size_t SqlScanner::line_or_bracket_end() {
  if (offset_ < searched_from_ || offset_ > line_or_bracket_end_) {
    searched_from_ = offset_;
    line_or_bracket_end_ = std::min(text_.find_first_of("]\n", offset_), text_.size());
  }
  return line_or_bracket_end_;
}

SqlToken SqlScanner::take(SqlToken::Kind kind, std::size_t end) {
  poll_cancellation_after(1);
  const SourceSpan span{offset_, end};
  offset_ = end;
  return {kind, text_.substr(span.begin, span.end - span.begin), span};
}

SqlToken SqlScanner::take_quoted(char close) {
  const auto end = text_.find(close, offset_ + 1);  // a doubled quote reads as two names side by side: no harm
  if (end == std::string_view::npos) return take(SqlToken::Kind::Unterminated, text_.size());
  return take(SqlToken::Kind::Quoted, end + 1);
}

bool StatementEnd::ends_with(const SqlToken& token) {
  const bool inside_trigger = state_ == State::Trigger || state_ == State::TriggerSemicolon;
  if ((token.is_symbol(';') && !inside_trigger) || closes_loop(token)) {
    state_ = State::Start;
    other_braces_ = 0;
    return loops_ == 0;
  }
  state_ = after(token);
  return false;
}

// Counts the braces.
bool StatementEnd::closes_loop(const SqlToken& token) {
  if (token.is_symbol('{') && state_ == State::LoopHead) ++loops_;
  else if (token.is_symbol('{') && loops_ > 0) ++other_braces_;
  if (!token.is_symbol('}') || loops_ == 0) return false;
  const bool closes = other_braces_ == 0;
  --(closes ? loops_ : other_braces_);
  return closes;
}

StatementEnd::State StatementEnd::after_first(const SqlToken& token) {
  if (token.is_word("EXPLAIN")) return State::Explain;
  if (token.is_word("PREPARE")) return State::Prepare;
  if (token.is_word("REPEAT")) return State::LoopHead;
  return token.is_word("CREATE") ? State::Create : State::Plain;
}

StatementEnd::State StatementEnd::after(const SqlToken& token) const {
  switch (state_) {
    case State::Start:
    case State::Prepared: return after_first(token);
    case State::Explain:  // EXPLAIN [QUERY PLAN] CREATE ...
      if (token.is_word("QUERY") || token.is_word("PLAN")) return State::Explain;
      return token.is_word("CREATE") ? State::Create : State::Plain;
    case State::Prepare: return token.is_word("AS") ? State::Prepared : State::Prepare;
    case State::LoopHead: return token.is_symbol('{') ? State::Start : State::LoopHead;
    case State::Create:
      if (token.is_word("TEMP") || token.is_word("TEMPORARY")) return State::Create;
      return token.is_word("TRIGGER") ? State::Trigger : State::Plain;
    case State::Plain: return State::Plain;
    case State::Trigger:
    case State::TriggerSemicolon:
    case State::TriggerEnd:
      if (token.is_symbol(';')) return State::TriggerSemicolon;
      return state_ == State::TriggerSemicolon && token.is_word("END") ? State::TriggerEnd : State::Trigger;
  }
  return state_;
}

}  // namespace eindb
