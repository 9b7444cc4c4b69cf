#include "engine/files/copy_line_reader.hpp"

#include <algorithm>
#include <string>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

[[noreturn]] void fail_text(const std::string& message, const std::string& hint = {}) {
  throw Error(ErrorKind::Corrupt, message, std::nullopt, hint);
}

[[noreturn]] void fail_marker(bool other_line_end) {
  fail_text(other_line_end ? "end-of-copy marker does not match previous newline style" : "end-of-copy marker corrupt");
}

}  // namespace

CopyLineReader::CopyLineReader(const CopyFormatOptions& options, std::size_t most_bytes, CheckText check)
    : check_(check),
      csv_(options.format == CopyFormat::Csv),
      end_marker_(options.end_marker),
      quote_(options.quote),
      escape_(options.escape),
      most_bytes_(most_bytes) {
  const auto special = [&](char c) { special_[static_cast<unsigned char>(c)] = true; };
  for (const char c : {'\n', '\r'}) special(c);
  if (csv_) {
    special(quote_);
    special(escape_);
  } else {
    special('\\');
  }
}

void CopyLineReader::append(std::string_view bytes) {
  if (ended_) return;
  begin_row();
  buffer_.append(bytes);
}

std::optional<std::string_view> CopyLineReader::next() {
  begin_row();
  while (!ended_) {
    const auto step = look();
    if (step == Step::Row) return checked_row();
    if (step == Step::NeedsMore) break;
  }
  check_length(ended_ ? 0 : buffer_.rest().size());
  return std::nullopt;
}

/// Discards the row that was returned last.
void CopyLineReader::begin_row() {
  if (taken_ == 0) return;
  DCHECK(taken_ <= buffer_.rest().size(), "a line that was given has come whole");
  buffer_.consume(taken_);
  at_ = row_ = taken_ = 0;
  ++line_;
  in_quotes_ = after_escape_ = false;
}

void CopyLineReader::skip_plain() {
  // A `\.` alone in its line is detected at the beginning of a CSV line.
  if (csv_ && end_marker_ && at_ == 0 && peek(0) == '\\') return;
  const auto rest = buffer_.rest();
  DCHECK(at_ <= rest.size(), "no more is looked at than has come");
  const auto* const found =
      std::find_if(rest.begin() + at_, rest.end(), [&](char c) { return special_[static_cast<unsigned char>(c)]; });
  const auto at = static_cast<std::size_t>(found - rest.begin());
  if (at != at_) after_escape_ = false;
  at_ = at;
}

CopyLineReader::Step CopyLineReader::look() {
  skip_plain();
  if (at_ == buffer_.rest().size()) return end_at_end();
  return csv_ ? look_csv() : look_text();
}

CopyLineReader::Step CopyLineReader::look_text() {
  switch (here()) {
    case '\n': return at_newline();
    case '\r': return at_return();
    default: return at_backslash();
  }
}

CopyLineReader::Step CopyLineReader::look_csv() {
  const char c = here();
  if (end_marker_ && at_ == 0 && c == '\\') {
    const auto found = marker();
    if (found == Marker::NeedsMore) return Step::NeedsMore;
    if (found == Marker::OtherLineEnd) fail_marker(true);
    if (found == Marker::Present) return end_at_marker();
  }
  if (c == '\r' && waits_for(at_ + 1)) return Step::NeedsMore;
  // If escape and quote are the same character, it ends the quotes and begins them again.
  const bool escape = escape_ != quote_ && c == escape_;
  if (in_quotes_ && escape) after_escape_ = !after_escape_;
  if (c == quote_ && !after_escape_) in_quotes_ = !in_quotes_;
  if (!escape) after_escape_ = false;
  if (!in_quotes_ && c == '\r') return at_return();
  if (!in_quotes_ && c == '\n') return at_newline();
  if (c == (line_end_ == LineEnd::Cr ? '\r' : '\n')) ++line_;
  ++at_;
  return Step::GoOn;
}

CopyLineReader::Step CopyLineReader::at_newline() {
  if (line_end_ == LineEnd::Cr || line_end_ == LineEnd::CrLf) {
    if (csv_) fail_text("unquoted newline found in data", "a value may have it in quotes");
    fail_text("literal newline found in data", "a value has it as \\n");
  }
  line_end_ = LineEnd::Lf;
  return take(at_, at_ + 1);
}

CopyLineReader::Step CopyLineReader::at_return() {
  if (line_end_ == LineEnd::Cr) return take(at_, at_ + 1);
  if (line_end_ != LineEnd::Lf) {
    if (waits_for(at_ + 1)) return Step::NeedsMore;
    if (peek(at_ + 1) == '\n') {
      line_end_ = LineEnd::CrLf;
      return take(at_, at_ + 2);
    }
    if (line_end_ == LineEnd::Unknown) {
      line_end_ = LineEnd::Cr;
      return take(at_, at_ + 1);
    }
  }
  if (csv_) fail_text("unquoted carriage return found in data", "a value may have it in quotes");
  fail_text("literal carriage return found in data", "a value has it as \\r");
}

/// In text the next character belongs to the backslash, even a newline.
CopyLineReader::Step CopyLineReader::at_backslash() {
  if (waits_for(at_ + 1)) return Step::NeedsMore;
  if (peek(at_ + 1) == '.') {
    const auto found = marker();
    if (found == Marker::NeedsMore) return Step::NeedsMore;
    if (found != Marker::Present) fail_marker(found == Marker::OtherLineEnd);
    return end_at_marker();
  }
  at_ = std::min(at_ + 2, buffer_.rest().size());
  return Step::GoOn;
}

/// Whether `\.` and a line end of the kind seen before stand at at_.
CopyLineReader::Marker CopyLineReader::marker() const {
  auto at = at_ + 1;
  if (waits_for(at)) return Marker::NeedsMore;
  if (peek(at++) != '.') return Marker::Absent;
  if (line_end_ == LineEnd::CrLf) {
    if (waits_for(at)) return Marker::NeedsMore;
    const auto c = peek(at++);
    if (c == '\n' && !csv_) return Marker::OtherLineEnd;
    if (c != '\r') return Marker::Absent;
  }
  if (waits_for(at)) return Marker::NeedsMore;
  const auto c = peek(at);
  if (c != '\n' && c != '\r') return Marker::Absent;
  const bool fits = line_end_ == LineEnd::Unknown || (c == '\r') == (line_end_ == LineEnd::Cr);
  return fits ? Marker::Present : Marker::OtherLineEnd;
}

CopyLineReader::Step CopyLineReader::take(std::size_t row, std::size_t end) {
  DCHECK(row <= end && end > 0, "a row ends with its line, or before");
  row_ = row;
  taken_ = end;
  return Step::Row;
}

/// Text before the marker in its line is a row.
CopyLineReader::Step CopyLineReader::end_at_marker() {
  ended_ = true;
  return at_ == 0 ? Step::NeedsMore : take(at_, buffer_.rest().size());
}

/// The last line may lack its line end.
CopyLineReader::Step CopyLineReader::end_at_end() {
  if (!buffer_.finished()) return Step::NeedsMore;
  ended_ = true;
  return at_ == 0 ? Step::NeedsMore : take(at_, at_);
}

void CopyLineReader::check_length(std::size_t bytes) const {
  if (bytes > most_bytes_)
    throw Error(ErrorKind::Value,
                "a row is longer than the " + std::to_string(most_bytes_) + " bytes that it may have");
}

std::string_view CopyLineReader::checked_row() const {
  const auto row = buffer_.rest().substr(0, row_);
  check_length(row.size());
  check_(row);
  return row;
}

std::optional<char> CopyLineReader::peek(std::size_t offset) const {
  const auto rest = buffer_.rest();
  return offset < rest.size() ? std::optional(rest[offset]) : std::nullopt;
}

}  // namespace eindb
