#include "server/copy/copy_line_decoder.hpp"

#include <utility>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "server/values/client_text.hpp"

namespace eindb {
namespace {

[[noreturn]] void fail_line(const std::string& message) { throw Error(ErrorKind::Corrupt, message); }

/// The text in quotes, shortened for a message without splitting a character.
std::string shown(std::string_view text) {
  constexpr std::size_t kMostBytes = 100;
  if (text.size() <= kMostBytes) return "\"" + std::string(text) + "\"";
  auto end = kMostBytes;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return "\"" + std::string(text.substr(0, end)) + "...\"";
}

}  // namespace

CopyLineDecoder::CopyLineDecoder(const CopyFormatOptions& options, CopyTarget target, std::size_t most_row_bytes)
    : target_(std::move(target)),
      header_(options.header),
      lines_(options, most_row_bytes, check_client_text),
      fields_(options, check_client_text),
      force_null_(options.force_null.among(target_.columns, "FORCE_NULL")),
      force_not_null_(options.force_not_null.among(target_.columns, "FORCE_NOT_NULL")),
      has_forces_(!options.force_null.empty() || !options.force_not_null.empty()) {
  CHECK(force_null_.size() == target_.columns.size() && force_not_null_.size() == target_.columns.size(),
        "it is known of each column what stands for NULL in it");
}

const std::vector<CopyField>* CopyLineDecoder::next() {
  try {
    if (header_ != CopyHeader::Absent && !read_header()) return nullptr;
    if (!next_line()) return nullptr;
    split_row();
  } catch (const Error& error) {
    throw CopyError(error, context());
  }
  return &row_;
}

bool CopyLineDecoder::next_line() {
  line_.reset();
  line_ = lines_.next();
  return line_.has_value();
}

bool CopyLineDecoder::read_header() {
  const bool there = next_line();
  if (!there && !lines_.ended()) return false;
  if (!there) line_ = "";  // an absent header matches nothing
  if (header_ == CopyHeader::Match) match_header();
  header_ = CopyHeader::Absent;
  return true;
}

void CopyLineDecoder::match_header() {
  CHECK(line_.has_value(), "a header is matched that was read");
  const auto& names = target_.columns;
  const auto count = fields_.split(*line_, names.size(), row_);
  if (count != names.size()) {
    fail_line("wrong number of fields in header line: got " + std::to_string(count) + ", expected " +
              std::to_string(names.size()));
  }
  for (std::size_t n = 0; n < count; ++n) {
    if (row_[n] && equal_ignoring_case(*row_[n], names[n])) continue;
    const auto got = row_[n] ? shown(*row_[n]) : "null value (" + shown(fields_.null()) + ")";
    fail_line("column name mismatch in header line field " + std::to_string(n + 1) + ": got " + got + ", expected \"" +
              names[n] + "\"");
  }
}

void CopyLineDecoder::split_row() {
  const auto columns = target_.columns.size();
  const auto count = fields_.split(*line_, columns, row_);
  if (count > columns) fail_line("extra data after last expected column");
  if (count < columns) fail_line("missing data for column \"" + target_.columns[count] + "\"");
  if (has_forces_) apply_forces();
}

void CopyLineDecoder::apply_forces() {
  DCHECK(row_.size() == target_.columns.size(), "a row that was split has a field for each column");
  for (std::size_t n = 0; n < row_.size(); ++n) {
    if (!row_[n] && force_not_null_[n]) row_[n] = fields_.null();
    else if (row_[n] && force_null_[n] && *row_[n] == fields_.null()) row_[n].reset();
  }
}

std::string CopyLineDecoder::context() const {
  const auto line = "COPY " + target_.table + ", line " + std::to_string(lines_.line());
  return line_ ? line + ": " + shown(*line_) : line;
}

CopyError CopyLineDecoder::error_in(std::size_t column, const Error& cause) const {
  CHECK(column < row_.size() && column < target_.columns.size(),
        "an error in a field is one in the row that was given");
  return {cause, "COPY " + target_.table + ", line " + std::to_string(lines_.line()) + ", column " +
                     target_.columns[column] + ": " + (row_[column] ? shown(*row_[column]) : "null input")};
}

CopyError CopyLineDecoder::error_in_row(const Error& cause) const { return {cause, context()}; }

}  // namespace eindb
