#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/arrow/arrow_values.hpp"
#include "engine/results/result.hpp"

namespace eindb {

/// Bytes of one buffer of a column, which is handed over as it is.
class ArrowBuffer {
 public:
  template <class T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_->insert(bytes_->end(), bytes, bytes + sizeof value);
  }
  void put_text(std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_->insert(bytes_->end(), bytes, bytes + text.size());
  }
  void put_bit(std::int64_t at, bool value) {
    const auto byte = static_cast<std::size_t>(at / 8);
    if (byte >= bytes_->size()) bytes_->resize(byte + 1);
    if (value) (*bytes_)[byte] |= std::byte{1} << static_cast<unsigned>(at % 8);
  }
  std::size_t size() const { return bytes_->size(); }
  /// A buffer of no bytes has an address all the same, which some consumers ask for.
  ArrowBytes take() {
    if (bytes_->capacity() == 0) bytes_->reserve(1);
    auto owner = std::exchange(bytes_, std::make_shared<std::vector<std::byte>>());
    const auto size = static_cast<std::int64_t>(owner->size());
    return {owner->data(), std::move(owner), size};
  }

 private:
  std::shared_ptr<std::vector<std::byte>> bytes_ = std::make_shared<std::vector<std::byte>>();
};

/// How the values of a column are laid out.
enum class ArrowLayout : std::uint8_t {
  Null,
  Bool,
  Int64,
  Float32,
  Float64,
  Complex64,
  Complex128,
  Text,
  Bytes,
  Day,
  Moment
};

/// A column of this layout. Complex numbers are lists of two numbers.
ArrowField arrow_field(const std::string& name, ArrowLayout layout, bool nullable);

/// Gathers the values of one column.
class ColumnBuilder {
 public:
  ColumnBuilder(std::string name, ArrowLayout layout) : name_(std::move(name)), layout_(layout) { begin(); }

  ArrowField field() const { return arrow_field(name_, layout_, true); }

  /// Error{Type} for a value that the column's type does not hold.
  void add(const Cell& cell);

  /// The values since the last call.
  ArrowValues take();

 private:
  bool is_text() const { return layout_ == ArrowLayout::Text || layout_ == ArrowLayout::Bytes; }
  bool is_pair() const { return layout_ == ArrowLayout::Complex64 || layout_ == ArrowLayout::Complex128; }
  void begin();
  void add_nothing();
  void add_value(const Cell& cell);
  void add_text(const Cell& cell);
  double real_of_cell(const Cell& cell) const;
  std::complex<double> complex_of_cell(const Cell& cell) const;
  std::int64_t moment_of_cell(const Cell& cell, bool with_time) const;
  [[noreturn]] void refuse(const char* what) const;

  std::string name_;
  ArrowLayout layout_;
  ArrowBuffer valid_;
  ArrowBuffer offsets_;
  ArrowBuffer values_;
  std::int64_t length_ = 0;
  std::int64_t nulls_ = 0;
};

}  // namespace eindb
