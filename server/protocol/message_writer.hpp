#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/check.hpp"
#include "server/protocol/big_endian.hpp"

namespace eindb {

/// Puts messages to a client together, one after the other, into a buffer that is sent when it is convenient.
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
  /// With the zero byte that ends it.
  MessageWriter& text(std::string_view text) {
    buffer_ += text;
    buffer_ += '\0';
    return *this;
  }
  /// The length is known now.
  void end() {
    DCHECK(message_ > 0 && message_ < buffer_.size(), "what ends is a message that was begun");
    store_big_endian(buffer_.data() + message_, static_cast<std::int32_t>(buffer_.size() - message_));
    message_ = 0;
  }
  /// Takes back a message that was begun and has no end: an error got in between.
  void abandon() {
    if (message_ > 0) buffer_.resize(message_ - 1);
    message_ = 0;
  }
  /// Whether no message is begun that has no end.
  bool is_whole() const { return message_ == 0; }
  /// A message without a body.
  void empty(char type) { begin(type).end(); }

  /// A value behind its length, which is known when it ends: what is appended to buffer() in between.
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
  std::size_t message_ = 0;  // where the length of the one that is begun stands, behind its type; 0: none is
};

}  // namespace eindb
