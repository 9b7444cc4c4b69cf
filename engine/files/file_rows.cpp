#include "engine/files/file_rows.hpp"

#include <span>
#include <string>

#include "common/byte_order_mark.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

constexpr std::size_t kBytesAtOnce = 1 << 20;

void check_file_text(std::string_view text) {
  if (is_utf8(text)) return;
  throw Error(ErrorKind::Corrupt, "it is no text in UTF-8", std::nullopt, "convert the file, as with iconv -t UTF-8");
}

CopyFormatOptions format_of_file(char delimiter) {
  auto format = CopyFormatOptions::of(CopyFormat::Csv);
  format.delimiter = delimiter;
  format.end_marker = false;
  return format;
}

}  // namespace

FileRows::FileRows(const FilePath& path, char delimiter, std::int64_t largest_row)
    : file_(path),
      lines_(format_of_file(delimiter), static_cast<std::size_t>(largest_row), check_file_text),
      fields_(format_of_file(delimiter), check_file_text),
      buffer_(kBytesAtOnce) {}

const std::vector<CopyField>* FileRows::next() {
  try {
    while (!(line_ = lines_.next())) {
      if (lines_.ended() || !read()) return nullptr;
    }
    fields_.split(*line_, line_->size() + 1, row_);
  } catch (const Error& error) {
    throw at_line(error);
  }
  return &row_;
}

Error FileRows::at_line(const Error& cause) const {
  return {cause.kind(), file_.path() + ", line " + std::to_string(lines_.line()) + ": " + cause.message(), std::nullopt,
          cause.hint()};
}

/// False once the end of the file has been told to the lines.
bool FileRows::read() {
  if (finished_) return false;
  auto got = std::string_view(buffer_.data(), file_.read_some(offset_, std::as_writable_bytes(std::span(buffer_))));
  finished_ = got.size() < buffer_.size();
  if (offset_ == 0 && got.starts_with(kByteOrderMark)) got.remove_prefix(kByteOrderMark.size());
  offset_ += static_cast<std::int64_t>(buffer_.size());
  lines_.append(got);
  if (finished_) lines_.finish();
  return true;
}

std::string_view without_spaces(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace eindb
