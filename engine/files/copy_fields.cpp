#include "engine/files/copy_fields.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/// Consumes at most `most` digits at the front of `rest` and returns the byte that they denote.
char take_number(std::string_view& rest, int base, int most) {
  int value = 0;
  for (; most > 0 && !rest.empty() && digit(rest[0]) < base; --most) {
    value = value * base + digit(rest[0]);
    rest.remove_prefix(1);
  }
  return static_cast<char>(value);
}

/// Consumes the escape at the front of `rest`, after its backslash, and returns the byte that it denotes.
char take_escape(std::string_view& rest) {
  DCHECK(!rest.empty(), "an escape has something behind its backslash");
  if (digit(rest[0]) < 8) return take_number(rest, 8, 3);
  const char c = rest[0];
  rest.remove_prefix(1);
  switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    case 'x': return !rest.empty() && digit(rest[0]) < 16 ? take_number(rest, 16, 2) : 'x';
    default: return c;
  }
}

}  // namespace

CopyFields::CopyFields(const CopyFormatOptions& options, CheckText check)
    : check_(check),
      csv_(options.format == CopyFormat::Csv),
      delimiter_(options.delimiter),
      quote_(options.quote),
      escape_(options.escape),
      null_(options.null) {
  for (const char c : {delimiter_, csv_ ? quote_ : '\\'}) special_[static_cast<unsigned char>(c)] = true;
}

std::size_t CopyFields::split(std::string_view row, std::size_t most, std::vector<CopyField>& out) {
  out.clear();
  values_.clear();
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    const auto field = csv_ ? next_csv(row) : next_text(row);
    if (count < most) out.push_back(field);
    // Each field ends at a delimiter or at the end of the row.
    more = !row.empty();
    if (more) row.remove_prefix(1);
  }
  DCHECK(out.size() == std::min(count, most), "as many fields are given as are wanted");
  return count;
}

std::size_t CopyFields::plain_length(std::string_view rest) const {
  const auto* const found =
      std::find_if(rest.begin(), rest.end(), [&](char c) { return special_[static_cast<unsigned char>(c)]; });
  return static_cast<std::size_t>(found - rest.begin());
}

CopyField CopyFields::next_text(std::string_view& rest) {
  const auto all = rest;
  rest.remove_prefix(plain_length(rest));
  const bool escapes = !rest.empty() && rest[0] != delimiter_;
  const auto value = escapes ? unescaped(all, rest) : all.substr(0, all.size() - rest.size());
  // The raw text is compared: `\N` is NULL, but an escape that yields the same text is not.
  if (all.substr(0, all.size() - rest.size()) == null_) return std::nullopt;
  return value;
}

CopyField CopyFields::next_csv(std::string_view& rest) {
  const auto all = rest;
  rest.remove_prefix(plain_length(rest));
  if (!rest.empty() && rest[0] != delimiter_) return unquoted(all, rest);
  const auto value = all.substr(0, all.size() - rest.size());
  if (value == null_) return std::nullopt;
  return value;
}

std::size_t CopyFields::begin_value(std::string_view all, std::string_view rest) {
  // A value is never longer than its raw text, and earlier values have already been counted, so no append reallocates.
  if (values_.empty()) values_.reserve(all.size());
  DCHECK(values_.size() + all.size() <= values_.capacity(), "values do not move while a row is split");
  const auto begin = values_.size();
  values_ += all.substr(0, all.size() - rest.size());
  return begin;
}

void CopyFields::take_plain(std::string_view& rest) {
  const auto plain = plain_length(rest);
  values_ += rest.substr(0, plain);
  rest.remove_prefix(plain);
}

std::string_view CopyFields::unescaped(std::string_view all, std::string_view& rest) {
  const auto begin = begin_value(all, rest);
  for (; !rest.empty() && rest[0] != delimiter_; take_plain(rest)) {
    rest.remove_prefix(1);
    if (!rest.empty()) values_ += take_escape(rest);
  }
  const auto value = std::string_view(values_).substr(begin);
  check_(value);
  return value;
}

std::string_view CopyFields::unquoted(std::string_view all, std::string_view& rest) {
  const auto begin = begin_value(all, rest);
  for (; !rest.empty() && rest[0] != delimiter_; take_plain(rest)) take_quotes(rest);
  return std::string_view(values_).substr(begin);
}

/// Consumes the quoted part at the front of `rest`.
void CopyFields::take_quotes(std::string_view& rest) {
  DCHECK(rest.starts_with(quote_), "quotes begin with a quote");
  rest.remove_prefix(1);
  for (;;) {
    const auto* const stop =
        std::find_if(rest.begin(), rest.end(), [&](char c) { return c == quote_ || c == escape_; });
    const auto plain = static_cast<std::size_t>(stop - rest.begin());
    values_ += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) throw Error(ErrorKind::Corrupt, "unterminated CSV quoted field");
    const bool escapes = rest[0] == escape_ && rest.size() > 1 && (rest[1] == escape_ || rest[1] == quote_);
    const bool closes = !escapes && rest[0] == quote_;
    if (!closes) values_ += rest[escapes ? 1 : 0];
    rest.remove_prefix(escapes ? 2 : 1);
    if (closes) return;
  }
}

}  // namespace eindb
