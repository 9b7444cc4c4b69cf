#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "server/protocol/big_endian.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {

/// Reads the fields of a message's body in order. Every read throws ProtocolError if the body is too short. Results are
/// views into the body.
class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : rest_(body) {}

  template <std::integral T>
  T integer() {
    return load_big_endian<T>(bytes(sizeof(T)));
  }

  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) throw ProtocolError("a message ends in the middle of a field");
    const auto field = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return field;
  }

  /// Reads a text up to its terminating zero byte.
  std::string_view text() {
    const auto end = rest_.find('\0');
    if (end == std::string_view::npos) throw ProtocolError("a text in a message has no end");
    const auto field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return field;
  }

  /// Reads the number of items that follow, of at least `bytes_each` bytes each, and checks it against the remaining
  /// bytes.
  std::size_t count(std::size_t bytes_each) {
    const auto count = integer<std::uint16_t>();
    if (count * bytes_each > rest_.size()) throw ProtocolError("a message has fewer fields than it says");
    return count;
  }

  /// Reads a length and a value; nullopt for NULL.
  std::optional<std::string_view> value() {
    const auto length = integer<std::int32_t>();
    if (length == -1) return std::nullopt;
    if (length < 0) throw ProtocolError("a value cannot be " + std::to_string(length) + " bytes long");
    return bytes(static_cast<std::size_t>(length));
  }

  std::string_view rest() {
    const auto field = rest_;
    rest_ = {};
    return field;
  }

  bool at_end() const { return rest_.empty(); }
  /// Throws ProtocolError unless all bytes are read.
  void end() const {
    if (!rest_.empty()) throw ProtocolError("a message goes on behind its last field");
  }

 private:
  std::string_view rest_;
};

}  // namespace eindb
