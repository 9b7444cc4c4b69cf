#include "server/copy/copy_binary_decoder.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "server/copy/copy_signature.hpp"
#include "server/protocol/big_endian.hpp"

namespace eindb {
namespace {

// Bits of the flags field. Unknown bits may be ignored only in the lower half.
constexpr std::uint32_t kHasOids = 1U << 16U;
constexpr std::uint32_t kCritical = 0xFFFF0000U;

[[noreturn]] void fail_binary(const std::string& message) { throw Error(ErrorKind::Corrupt, message); }

[[noreturn]] void fail_header(const std::string& what) { fail_binary("invalid COPY file header (" + what + ")"); }

}  // namespace

void CopyBinaryDecoder::append(std::string_view bytes) {
  begin_row();
  buffer_.append(bytes);
}

const std::vector<CopyField>* CopyBinaryDecoder::next() {
  begin_row();
  try {
    if (stage_ < Stage::Rows && !read_header()) return nullptr;
    if (stage_ == Stage::Rows && read_row()) return &row_;
    check_trailer();
    return nullptr;
  } catch (const Error& error) {
    if (line_ == 0) throw CopyError(error, "COPY " + target_.table);
    if (counted_ && places_.size() < target_.columns.size()) throw error_in(places_.size(), error);
    throw error_in_row(error);
  }
}

CopyError CopyBinaryDecoder::error_in(std::size_t column, const Error& cause) const {
  CHECK(column < target_.columns.size(), "an error in a field is one in a column that rows have");
  return {cause, "COPY " + target_.table + ", line " + std::to_string(line_) + ", column " + target_.columns[column]};
}

CopyError CopyBinaryDecoder::error_in_row(const Error& cause) const {
  return {cause, "COPY " + target_.table + ", line " + std::to_string(line_)};
}

/// Discards the row that was returned last.
void CopyBinaryDecoder::begin_row() {
  if (!complete_) return;
  DCHECK(at_ <= buffer_.rest().size(), "a row that was given has come whole");
  buffer_.consume(at_);
  at_ = 0;
  ++line_;
  counted_ = complete_ = false;
  places_.clear();
}

/// Reads the integer at at_ and advances at_; nullopt if it is not complete yet.
template <class T>
std::optional<T> CopyBinaryDecoder::integer() {
  const auto bytes = buffer_.rest().substr(at_);
  if (bytes.size() < sizeof(T)) return std::nullopt;
  at_ += sizeof(T);
  return load_big_endian<T>(bytes);
}

// The header -------------------------------------------------------------------------------------------------------

bool CopyBinaryDecoder::read_header() {
  if (stage_ == Stage::Signature && !read_signature()) return false;
  if (stage_ == Stage::Flags && !read_flags()) return false;
  if (stage_ == Stage::ExtensionLength && !read_extension_length()) return false;
  return skip_extension();
}

bool CopyBinaryDecoder::read_signature() {
  const auto begin = buffer_.rest().substr(0, kCopySignature.size());
  const bool whole = begin.size() == kCopySignature.size();
  if (!kCopySignature.starts_with(begin) || (buffer_.finished() && !whole))
    fail_binary("COPY file signature not recognized");
  if (!whole) return false;
  buffer_.consume(begin.size());
  stage_ = Stage::Flags;
  return true;
}

bool CopyBinaryDecoder::read_flags() {
  const auto flags = integer<std::uint32_t>();
  if (!flags) {
    if (buffer_.finished()) fail_header("missing flags");
    return false;
  }
  if ((*flags & kHasOids) != 0) fail_header("WITH OIDS");
  if ((*flags & kCritical) != 0) fail_binary("unrecognized critical flags in COPY file header");
  stage_ = Stage::ExtensionLength;
  return true;
}

bool CopyBinaryDecoder::read_extension_length() {
  const auto length = integer<std::int32_t>();
  if (length ? *length < 0 : buffer_.finished()) fail_header("missing length");
  if (!length) return false;
  buffer_.consume(std::exchange(at_, 0));
  extension_ = static_cast<std::size_t>(*length);
  stage_ = Stage::Extension;
  return true;
}

bool CopyBinaryDecoder::skip_extension() {
  CHECK(at_ == 0, "an extension begins where what stands before it was used up");
  const auto here = std::min(extension_, buffer_.rest().size());
  buffer_.consume(here);
  extension_ -= here;
  if (extension_ > 0) {
    if (buffer_.finished()) fail_header("wrong length");
    return false;
  }
  stage_ = Stage::Rows;
  line_ = 1;
  return true;
}

// Rows -------------------------------------------------------------------------------------------------------------

bool CopyBinaryDecoder::read_row() {
  if (!counted_ && !read_field_count()) return false;
  while (places_.size() < target_.columns.size()) {
    if (read_field()) continue;
    if (buffer_.finished()) fail_binary("unexpected EOF in COPY data");
    return false;
  }
  take_row();
  return true;
}

/// Returns false if the count is not complete yet, and at the end of the rows.
bool CopyBinaryDecoder::read_field_count() {
  const auto count = integer<std::int16_t>();
  if (!count) {
    if (buffer_.finished() && !buffer_.rest().empty()) fail_binary("unexpected EOF in COPY data");
    return false;
  }
  if (*count == kCopyTrailer) {
    buffer_.consume(std::exchange(at_, 0));
    stage_ = Stage::Trailer;
    return false;
  }
  const auto expected = target_.columns.size();
  if (*count < 0 || static_cast<std::size_t>(*count) != expected)
    fail_binary("row field count is " + std::to_string(*count) + ", expected " + std::to_string(expected));
  counted_ = true;
  return true;
}

/// Returns false if the field is not complete yet.
bool CopyBinaryDecoder::read_field() {
  const auto begin = at_;
  const auto length = integer<std::int32_t>();
  if (!length) return false;
  if (*length < 0 && *length != kCopyNull) fail_binary("invalid field size");
  const auto size = static_cast<std::size_t>(std::max(*length, 0));
  check_length(at_ + size);
  DCHECK(at_ <= buffer_.rest().size(), "no more of a row is read than has come");
  if (buffer_.rest().size() - at_ < size) {
    at_ = begin;
    return false;
  }
  places_.push_back({at_, *length});
  at_ += size;
  return true;
}

void CopyBinaryDecoder::check_length(std::size_t row_bytes) const {
  if (row_bytes <= most_row_bytes_) return;
  throw Error(ErrorKind::Value,
              "a row is longer than the " + std::to_string(most_row_bytes_) + " bytes that it may have");
}

/// Sets the row's views; its bytes no longer move.
void CopyBinaryDecoder::take_row() {
  DCHECK(places_.size() == target_.columns.size(), "a row that is taken has a field for each column");
  const auto* const row = buffer_.rest().data();
  row_.clear();
  for (const auto& [offset, length] : places_) {
    if (length == kCopyNull) row_.emplace_back();
    else row_.emplace_back(std::string_view(row + offset, static_cast<std::size_t>(length)));
  }
  complete_ = true;
}

void CopyBinaryDecoder::check_trailer() const {
  if (stage_ == Stage::Trailer && !buffer_.rest().empty()) fail_binary("received copy data after EOF marker");
}

}  // namespace eindb
