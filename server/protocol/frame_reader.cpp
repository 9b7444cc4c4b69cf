#include "server/protocol/frame_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "server/protocol/big_endian.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLengthBytes = 4;
// A buffer larger than this is freed when nothing is pending.
constexpr std::size_t kKeptRequestBytes = 1024;
// The types of small messages: Describe, Execute, Close, Sync, Flush, Terminate, CopyDone, CopyFail.
constexpr std::string_view kSmallTypes = "DECSHXcf";

}  // namespace

void FrameReader::append(std::string_view bytes) {
  drop_read();
  buffer_.append(bytes);
  count_message();
}

// Counts a large message twice: once for the buffer, once for the values read from it.
void FrameReader::count_message() {
  constexpr std::size_t kSmallMessage = 64 * 1024;
  constexpr std::size_t kCopies = 2;
  if (std::exchange(given_, false)) taken_.give_back();
  if (account_ == nullptr || refused_ || taken_.bytes() > 0 || pending() < head_bytes()) return;
  const auto said = length();
  if (said < static_cast<std::int32_t>(kSmallMessage)) return;
  const auto body = static_cast<std::size_t>(said) - kLengthBytes;
  if (body <= limit_here()) refused_ = !taken_.try_take(account_, kCopies * body);
}

// The limit for the message at begin_.
std::size_t FrameReader::limit_here() const {
  DCHECK(pending() > 0, "a message that has a limit has begun");
  const bool small = typed_ && kSmallTypes.find(buffer_[begin_]) != std::string_view::npos;
  return small ? std::min(limit_, kMostStartupBytes) : limit_;
}

// The size of the message's header: its type, if it has one, and its length.
std::size_t FrameReader::head_bytes() const { return (typed_ ? 1 : 0) + kLengthBytes; }

// The length that the client states. The header must be complete.
std::int32_t FrameReader::length() const {
  DCHECK(pending() >= head_bytes(), "a length stands in a head that has come");
  return load_big_endian<std::int32_t>(std::string_view(buffer_).substr(begin_ + head_bytes() - kLengthBytes));
}

bool FrameReader::ready() const {
  if (pending() < head_bytes()) return false;
  const auto said = length();
  if (said < static_cast<std::int32_t>(kLengthBytes)) return true;
  const auto body = static_cast<std::size_t>(said) - kLengthBytes;
  return refused_ || body > limit_here() || pending() - head_bytes() >= body;
}

std::optional<Frame> FrameReader::next() {
  count_message();
  if (!ready()) {
    if (pending() < head_bytes()) drop_read();
    return std::nullopt;
  }
  const auto said = length();
  if (said < static_cast<std::int32_t>(kLengthBytes))
    throw ProtocolError("a message cannot be " + std::to_string(said) + " bytes long");
  const auto body = static_cast<std::size_t>(said) - kLengthBytes;
  if (body > limit_here()) {
    throw ProtocolError("a message of " + std::to_string(body) + " bytes is longer than the " +
                            std::to_string(limit_here()) + " that may come here",
                        "54000");
  }
  if (refused_) {
    throw ProtocolError("a message of " + std::to_string(body) + " bytes is more than the server has memory for: " +
                            std::to_string(account_->most() / 2) + " for messages of all clients at a time",
                        "53200");
  }
  given_ = true;
  const auto here = std::string_view(buffer_).substr(begin_);
  CHECK(pending() >= head_bytes() + body, "a message that is ready is there as a whole");
  begin_ += head_bytes() + body;
  return Frame{typed_ ? here[0] : '\0', here.substr(head_bytes(), body)};
}

void FrameReader::clear() {
  begin_ = buffer_.size();
  taken_.give_back();
  drop_read();
}

void FrameReader::drop_read() {
  if (begin_ == 0) return;
  CHECK(begin_ <= buffer_.size(), "no more is read than has come");
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (buffer_.empty() && buffer_.capacity() > kKeptRequestBytes) std::string().swap(buffer_);
}

}  // namespace eindb
