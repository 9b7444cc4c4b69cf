#include "storage/formats/text_lines.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "common/byte_order_mark.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLineBufferBytes = 1 << 20;
constexpr std::size_t kMaxLine = 64 << 10;
constexpr std::size_t kShownText = 40;

}  // namespace

TextLines::TextLines(const InputFile& file)
    : file_(file),
      buffer_(static_cast<std::size_t>(std::clamp<std::int64_t>(file.size() + 1, kMaxLine + 2, kLineBufferBytes))) {
  rewind();
}

void TextLines::rewind() {
  begin_ = end_ = 0;
  file_offset_ = number_ = 0;
  fill();
  if (std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
}

/// Moves the unread rest to the front of the buffer and reads after it; false at the end of the file.
bool TextLines::fill() {
  CHECK(begin_ <= end_ && end_ - begin_ < buffer_.size(), "a line leaves room in the buffer");
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const auto got = file_.read_some(file_offset_, std::as_writable_bytes(std::span(buffer_).subspan(end_)));
  file_offset_ += static_cast<std::int64_t>(got);
  end_ += got;
  return got > 0;
}

bool TextLines::next(std::string_view& line) {
  ++number_;
  std::size_t searched = 0;
  for (;;) {
    const auto* from = buffer_.data() + begin_ + searched;
    const auto* found = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_ - searched));
    searched = end_ - begin_;
    const auto length = found != nullptr ? static_cast<std::size_t>(found - buffer_.data()) - begin_ : searched;
    if (length > kMaxLine) throw Error(ErrorKind::Corrupt, place() + ": a line of more than 64 KiB");
    const bool ends = found != nullptr || !fill();
    if (!ends) continue;
    if (found == nullptr && length == 0) return false;
    line = {buffer_.data() + begin_, length};
    begin_ += length + (found != nullptr ? 1 : 0);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
}

std::string TextLines::place(std::int64_t line) const { return file_.path() + ", line " + std::to_string(line); }

std::string shown_text(std::string_view text) {
  auto out = "'" + std::string(text.substr(0, kShownText));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out + (text.size() > kShownText ? "...'" : "'");
}

}  // namespace eindb
