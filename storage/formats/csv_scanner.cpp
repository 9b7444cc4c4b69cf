#include "storage/formats/csv_scanner.hpp"

#include <cstring>
#include <span>
#include <utility>

#include "common/byte_order_mark.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::size_t kCsvBufferBytes = 1 << 20;

}  // namespace

CsvScanner::CsvScanner(const InputFile& file, char delimiter)
    : file_(file), delimiter_(delimiter), buffer_(kCsvBufferBytes) {
  skip_byte_order_mark();
}

void CsvScanner::skip_byte_order_mark() {
  fill();
  if (std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
}

void CsvScanner::fail(std::int64_t line, const std::string& what) const {
  throw Error(ErrorKind::Corrupt, file_.path() + ", line " + std::to_string(line) + ": " + what);
}

/// Moves the unscanned rest to the front of the buffer and reads after it; false at the end of the file.
bool CsvScanner::fill() {
  if (begin_ == 0 && end_ == buffer_.size()) fail(line_, "a field of more than 1 MiB");
  CHECK(begin_ <= end_ && end_ <= buffer_.size(), "what is not scanned yet lies in the buffer");
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  const auto got = file_.read_some(file_offset_, std::as_writable_bytes(std::span(buffer_).subspan(end_)));
  file_offset_ += static_cast<std::int64_t>(got);
  end_ += got;
  return got > 0;
}

bool CsvScanner::next(CsvField& field) {
  if (std::exchange(skip_line_feed_, false) && !at_end() && buffer_[begin_] == '\n') ++begin_;
  const bool empty = at_end();
  if (empty && !in_row_) return false;
  field = {.text = {}, .line = line_, .column = column_, .quoted = !empty && buffer_[begin_] == '"', .ends_row = false};
  if (field.quoted) scan_quoted(field);
  else scan_plain(field);
  return true;
}

void CsvScanner::scan_plain(CsvField& field) {
  std::size_t length = 0;
  for (;; ++length) {
    if (begin_ + length == end_ && !fill()) break;
    const char c = buffer_[begin_ + length];
    if (c == delimiter_ || c == '\n' || c == '\r') break;
  }
  field.text = {buffer_.data() + begin_, length};
  begin_ += length;
  end_field(field);
}

void CsvScanner::scan_quoted(CsvField& field) {
  unquoted_.clear();
  for (++begin_;; ++begin_) {
    if (at_end()) fail(field.line, "a quote without an end");
    const char c = buffer_[begin_];
    if (c == '"') {
      ++begin_;
      if (at_end() || buffer_[begin_] != '"') break;
    }
    if (c == '\n') ++line_;
    unquoted_ += c;
    if (unquoted_.size() > kCsvBufferBytes) fail(field.line, "a field of more than 1 MiB");
  }
  const bool ends = at_end() || buffer_[begin_] == delimiter_ || buffer_[begin_] == '\n' || buffer_[begin_] == '\r';
  if (!ends) fail(line_, "text after a closing quote");
  field.text = unquoted_;
  end_field(field);
}

/// Consumes the delimiter or the end of the line. Must not refill, since the field's text lies in the buffer.
void CsvScanner::end_field(CsvField& field) {
  DCHECK(begin_ <= end_, "a field ends in what was read");
  const char c = begin_ < end_ ? buffer_[begin_++] : '\n';
  in_row_ = c == delimiter_;
  field.ends_row = !in_row_;
  skip_line_feed_ = c == '\r';
  column_ = in_row_ ? column_ + 1 : 1;
  if (!in_row_) ++line_;
}

}  // namespace eindb
