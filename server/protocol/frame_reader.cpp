#include "server/protocol/frame_reader.hpp"

#include <string>

#include "server/protocol/big_endian.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLengthBytes = 4;
// More than this is given back when nothing is pending.
constexpr std::size_t kKeptBytes = 1024;

}  // namespace

void FrameReader::append(std::string_view bytes) {
  drop_read();
  buffer_.append(bytes);
}

std::optional<Frame> FrameReader::next() {
  const std::size_t head = typed_ ? 1 : 0;
  const auto here = std::string_view(buffer_).substr(begin_);
  if (here.size() < head + kLengthBytes) {
    drop_read();
    return std::nullopt;
  }
  const auto length = load_big_endian<std::int32_t>(here.substr(head));
  if (length < static_cast<std::int32_t>(kLengthBytes))
    throw ProtocolError("a message cannot be " + std::to_string(length) + " bytes long");
  const auto body = static_cast<std::size_t>(length) - kLengthBytes;
  if (body > limit_) {
    throw ProtocolError("a message of " + std::to_string(body) + " bytes is longer than the " + std::to_string(limit_) +
                            " that may come here",
                        "54000");
  }
  if (here.size() - head - kLengthBytes < body) return std::nullopt;
  begin_ += head + kLengthBytes + body;
  return Frame{typed_ ? here[0] : '\0', here.substr(head + kLengthBytes, body)};
}

void FrameReader::clear() {
  begin_ = buffer_.size();
  drop_read();
}

void FrameReader::drop_read() {
  if (begin_ == 0) return;
  buffer_.erase(0, begin_);
  begin_ = 0;
  if (buffer_.empty() && buffer_.capacity() > kKeptBytes) std::string().swap(buffer_);
}

}  // namespace eindb
