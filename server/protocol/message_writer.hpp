#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/check.hpp"
#include "server/protocol/big_endian.hpp"

namespace eindb {

/// Builds a sequence of messages to a client in a buffer, which is sent later.
///
///     writer.begin('D').integer<std::int16_t>(1).integer<std::int32_t>(2).bytes("42").end();
///
/// Not thread-safe.
class MessageWriter {
 public:
  MessageWriter& begin(char type) {
    DCHECK(message_ == 0, "a message ends before the next one begins");
    buffer_ += type;
    message_ = buffer_.size();
    return integer<std::int32_t>(0);
  }
  template <std::integral T>
  MessageWriter& integer(T value) {
    append_big_endian(buffer_, value);
    return *this;
  }
  MessageWriter& bytes(std::string_view bytes) {
    buffer_ += bytes;
    return *this;
  }
  /// Appends a text that has no zero byte, and a zero byte that ends it.
  MessageWriter& text(std::string_view text) {
    CHECK(text.find('\0') == std::string_view::npos, "a zero byte would end a text of a message early");
    buffer_ += text;
    buffer_ += '\0';
    return *this;
  }
  /// Ends the message and fills in its length.
  void end() {
    DCHECK(message_ > 0 && message_ < buffer_.size(), "what ends is a message that was begun");
    store_big_endian(buffer_.data() + message_, static_cast<std::int32_t>(buffer_.size() - message_));
    message_ = 0;
  }
  /// Removes an incomplete message, after an error.
  void abandon() {
    if (message_ > 0) buffer_.resize(message_ - 1);
    message_ = 0;
  }
  /// Whether no message is begun that has no end.
  bool is_whole() const { return message_ == 0; }
  /// A message without a body.
  void empty(char type) { begin(type).end(); }

  /// Begins a value whose length is filled in by end_value(). Its bytes are appended to buffer().
  std::size_t begin_value() {
    integer<std::int32_t>(0);
    return buffer_.size();
  }
  void end_value(std::size_t begin) {
    DCHECK(begin >= sizeof(std::int32_t) && begin <= buffer_.size(), "a value lies behind its length");
    store_big_endian(buffer_.data() + begin - sizeof(std::int32_t), static_cast<std::int32_t>(buffer_.size() - begin));
  }

  std::string& buffer() { return buffer_; }
  std::size_t size() const { return buffer_.size(); }

 private:
  std::string buffer_;
  std::size_t message_ = 0;  // position of the current message's length, after its type; 0: no message is open
};

}  // namespace eindb
