#include "shell/separated_values.hpp"

#include <utility>

#include "common/byte_order_mark.hpp"
#include "common/error.hpp"

namespace eindb {

SeparatedValues::SeparatedValues(std::istream& stream, std::string name, char separator)
    : stream_(stream), name_(std::move(name)), separator_(separator) {
  for (std::size_t n = 0; n < kByteOrderMark.size(); ++n) {
    if (stream_.peek() != static_cast<unsigned char>(kByteOrderMark[n])) break;
    stream_.get();
  }
}

void SeparatedValues::fail(const std::string& message, const std::string& hint) const {
  throw Error(ErrorKind::Value, name_ + ":" + std::to_string(row_line_) + ": " + message, std::nullopt, hint);
}

bool SeparatedValues::next_character(char& c) {
  if (!stream_.get(c)) {
    if (stream_.bad()) throw Error(ErrorKind::Io, "cannot read all of '" + name_ + "'");
    return false;
  }
  if (c == '\n') ++line_;
  return true;
}

bool SeparatedValues::next(std::vector<Value>& row) {
  for (;;) {
    row.clear();
    row_line_ = line_;
    if (stream_.peek() == std::istream::traits_type::eof()) {
      char none = 0;
      return next_character(none);
    }
    char end = separator_;
    while (end == separator_) end = read_value(row.emplace_back());
    if (row.size() > 1 || !row.front().text.empty() || row.front().quoted) return true;
  }
}

char SeparatedValues::read_value(Value& value) {
  for (char c = 0; next_character(c);) {
    if (c == separator_ || c == '\n') return c;
    if (c == '\r' && stream_.peek() == '\n') continue;
    if (c == '"' && value.text.empty() && !value.quoted) read_quoted(value);
    else if (value.quoted) fail("a value goes on behind its closing quote", "a quote within quotes is doubled: \"\"");
    else value.text += c;
  }
  return '\n';
}

void SeparatedValues::read_quoted(Value& value) {
  value.quoted = true;
  for (char c = 0; next_character(c);) {
    if (c != '"') {
      value.text += c;
    } else if (stream_.peek() == '"') {
      stream_.get();
      value.text += '"';
    } else {
      return;
    }
  }
  fail("a quote has no end");
}

}  // namespace eindb
