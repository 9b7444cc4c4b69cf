#include "plan/type_text_reader.hpp"

#include <charconv>

namespace eindb {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c) || c == '.'; }

}  // namespace

void TypeTextReader::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
}

bool TypeTextReader::take(char mark) {
  skip_blanks();
  if (at_ == text_.size() || text_[at_] != mark) return false;
  last_ = {at_, at_ + 1};
  ++at_;
  return true;
}

void TypeTextReader::expect(char mark, std::string_view where) {
  if (!take(mark)) fail("'" + std::string(1, mark) + "' " + std::string(where));
}

std::int64_t TypeTextReader::number(std::string_view what) {
  skip_blanks();
  auto end = at_;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  std::int64_t value = 0;
  const auto read = std::from_chars(text_.data() + at_, text_.data() + end, value);
  if (end == at_ || read.ec != std::errc{}) fail(std::string(what));
  last_ = {at_, end};
  at_ = end;
  return value;
}

std::string_view TypeTextReader::name(std::string_view what) {
  skip_blanks();
  auto end = at_;
  while (end < text_.size() && (end == at_ ? begins_name(text_[end]) : continues_name(text_[end]))) ++end;
  if (end == at_) fail(std::string(what));
  last_ = {at_, end};
  at_ = end;
  return text_.substr(last_.begin, last_.end - last_.begin);
}

void TypeTextReader::expect_end() {
  skip_blanks();
  if (at_ != text_.size()) fail("nothing more");
}

void TypeTextReader::fail(const std::string& expected) {
  skip_blanks();
  const bool ended = at_ == text_.size();
  throw Error(ErrorKind::Syntax,
              "expected " + expected + ", found " + (ended ? "the end" : "'" + std::string(1, text_[at_]) + "'"),
              SourceSpan{at_, ended ? at_ : at_ + 1});
}

}  // namespace eindb
