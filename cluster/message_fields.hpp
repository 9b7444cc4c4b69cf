#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/byte_reader.hpp"
#include "cluster/byte_writer.hpp"
#include "common/error.hpp"
#include "tensor/stored_type.hpp"
#include "tensor/tile_format.hpp"

namespace eindb {

/// The members of a message's struct as a tuple in the order of their bytes, for writing and reading: the result of its
/// `static auto fields(auto& self)`. Specialised for structs that do not define fields().
template <class T>
struct FieldsOf {
  static auto tie(auto& value) requires requires { T::fields(value); }
  { return T::fields(value); }
};
template <class T>
concept HasFields = requires(T& value) {
  FieldsOf<T>::tie(value);
};

/// Whether an enum is a number rather than a choice among few values.
template <class E>
inline constexpr bool IsNumber = std::is_enum_v<E> && sizeof(E) == sizeof(std::int64_t);

/// The last value of an enum that is a field of a message.
template <class E>
inline constexpr E kLastChoice = E{};
template <>
inline constexpr ErrorKind kLastChoice<ErrorKind> = ErrorKind::Internal;
template <>
inline constexpr Encoding kLastChoice<Encoding> = kLastEncoding;
template <>
inline constexpr FormatChoice kLastChoice<FormatChoice> = kLastFormatChoice;
template <>
inline constexpr TileFormat kLastChoice<TileFormat> = kLastTileFormat;

/// Writes fields of any supported type in sequence.
class FieldWriter {
 public:
  explicit FieldWriter(ByteWriter& out) : out_(out) {}

  void put(bool value) { out_.flag(value); }
  void put(std::unsigned_integral auto value) { out_.number(value); }
  void put(std::signed_integral auto value) { out_.integer(value); }
  void put(double value) { out_.real(value); }
  void put(const std::string& value) { out_.text(value); }
  void put(const std::vector<std::byte>& value) { out_.bytes(value); }
  void put(std::chrono::milliseconds value) { out_.integer(value.count()); }
  template <class E>
  requires std::is_enum_v<E>
  void put(E value) {
    if constexpr (IsNumber<E>) out_.integer(static_cast<std::int64_t>(value));
    else out_.choice(value);
  }
  template <class T>
  void put(const std::vector<T>& items) {
    if constexpr (IsNumber<T>) return put_differences(items);
    out_.list(items, [this](const T& item) { put(item); });
  }
  template <class T>
  void put(const std::optional<T>& value) {
    out_.optional(value, [this](const T& present) { put(present); });
  }
  template <class... T>
  void put(const std::variant<T...>& value) {
    out_.byte(static_cast<std::uint8_t>(value.index()));
    std::visit([&](const auto& one) { this->put(one); }, value);
  }
  template <HasFields T>
  void put(const T& value) {
    std::apply([&](const auto&... field) { (this->put(field), ...); }, FieldsOf<T>::tie(value));
  }

 private:
  // Consecutive numbers take one byte each.
  template <class T>
  void put_differences(const std::vector<T>& numbers) {
    std::uint64_t last = 0;
    out_.list(numbers, [&](T item) {
      const auto number = static_cast<std::uint64_t>(item);
      out_.integer(static_cast<std::int64_t>(number - std::exchange(last, number)));
    });
  }

  ByteWriter& out_;
};

/// Reads the output of a FieldWriter. Throws Error{Corrupt} like ByteReader.
class FieldReader {
 public:
  explicit FieldReader(ByteReader& in) : in_(in) {}

  void get(bool& value) { value = in_.flag(); }
  template <std::unsigned_integral T>
  void get(T& value) {
    value = static_cast<T>(in_.number(std::numeric_limits<T>::max()));
  }
  void get(std::int64_t& value) { value = in_.integer(); }
  void get(double& value) { value = in_.real(); }
  void get(std::string& value) { value = in_.text(); }
  void get(std::vector<std::byte>& value) {
    const auto bytes = in_.bytes();
    value.assign(bytes.begin(), bytes.end());
  }
  void get(std::chrono::milliseconds& value) { value = std::chrono::milliseconds(in_.integer()); }
  template <class E>
  requires std::is_enum_v<E>
  void get(E& value) {
    if constexpr (IsNumber<E>) value = static_cast<E>(in_.integer());
    else value = in_.choice(kLastChoice<E>);
  }
  template <class T>
  void get(std::vector<T>& items) {
    if constexpr (IsNumber<T>) return get_differences(items);
    items = in_.list([this] { return one<T>(); });
  }
  template <class T>
  void get(std::optional<T>& value) {
    value = in_.optional([this] { return one<T>(); });
  }
  template <class... T>
  void get(std::variant<T...>& value) {
    get_alternative(value, in_.index(sizeof...(T)), std::index_sequence_for<T...>());
  }
  template <HasFields T>
  void get(T& value) {
    std::apply([&](auto&... field) { (this->get(field), ...); }, FieldsOf<T>::tie(value));
  }

 private:
  template <class T>
  void get_differences(std::vector<T>& numbers) {
    std::uint64_t last = 0;
    numbers = in_.list([&] {
      last += static_cast<std::uint64_t>(in_.integer());
      return static_cast<T>(last);
    });
  }
  template <class T>
  T one() {
    T value{};
    get(value);
    return value;
  }
  template <class... T, std::size_t... N>
  void get_alternative(std::variant<T...>& value, std::size_t index, std::index_sequence<N...>) {
    ((N == index ? void(value = one<T>()) : void()), ...);
  }

  ByteReader& in_;
};

}  // namespace eindb
