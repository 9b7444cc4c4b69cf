#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {

/// Reads fields written by a ByteWriter. The bytes are untrusted: every read throws Error{Corrupt} if they end too
/// early or differ from what a ByteWriter would write, so that writing the fields again yields the same bytes. Memory
/// use is at most a constant times the number of bytes.
class ByteReader {
 public:
  /// `bytes` must outlive the reader.
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  [[noreturn]] static void fail(const std::string& what) { throw Error(ErrorKind::Corrupt, what); }
  static void require(bool holds, const char* what) {
    if (!holds) fail(what);
  }

  std::uint8_t byte() {
    require(!rest_.empty(), "a message ends in the middle of a field");
    const auto value = std::to_integer<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  bool flag() {
    const auto value = byte();
    require(value <= 1, "a flag in a message is neither 0 nor 1");
    return value == 1;
  }
  std::uint64_t number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += kBits) {
      const std::uint64_t group = byte();
      DCHECK(shift < 64, "the bits of a number lie below its 64th");
      const auto bits = group & (kMore - 1);
      require(shift + kBits <= 64 || (bits >> (64 - shift)) == 0, "a number in a message has more than 64 bits");
      value |= bits << shift;
      if (group < kMore) {
        require(group != 0 || shift == 0, "a number in a message is longer than it has to be");
        break;
      }
      require(shift + kBits < 64, "a number in a message has more than 64 bits");
    }
    require(value <= most, "a number in a message is too large");
    return value;
  }
  std::int64_t size(std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    return static_cast<std::int64_t>(number(static_cast<std::uint64_t>(most)));
  }
  std::size_t index(std::size_t count) {
    require(count > 0, "a message speaks of something that is not there");
    return number(count - 1);
  }
  std::int64_t integer() {
    const auto bits = number();
    return static_cast<std::int64_t>((bits & 1U) != 0 ? ~(bits >> 1U) : bits >> 1U);
  }
  double real() {
    std::uint64_t bits = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) bits |= std::uint64_t{byte()} << shift;
    return std::bit_cast<double>(bits);
  }
  /// Reads one of an enum's values from 0 to `last`.
  template <class E>
  requires std::is_enum_v<E> E choice(E last) {
    const auto value = byte();
    require(value <= static_cast<std::uint8_t>(last), "a message says something that this version does not know");
    return static_cast<E>(value);
  }
  /// The result is a view into the message.
  std::span<const std::byte> bytes() {
    const auto size = count();
    const auto value = rest_.first(size);
    rest_ = rest_.subspan(size);
    return value;
  }
  std::string text() {
    const auto value = bytes();
    return {reinterpret_cast<const char*>(value.data()), value.size()};
  }

  /// Reads the number of items that follow, of at least one byte each.
  std::size_t count() {
    const auto value = number();
    require(value <= rest_.size(), "a message ends before all that it says it has");
    return value;
  }
  template <class Get>
  auto list(const Get& get) {
    std::vector<decltype(get())> items;
    for (auto left = count(); left > 0; --left) items.push_back(get());
    return items;
  }
  template <class Get>
  auto optional(const Get& get) {
    return flag() ? std::optional(get()) : std::nullopt;
  }

  void end() const { require(rest_.empty(), "a message goes on behind its end"); }

 private:
  static constexpr unsigned kBits = 7;
  static constexpr std::uint64_t kMore = 1U << kBits;

  std::span<const std::byte> rest_;
};

}  // namespace eindb
