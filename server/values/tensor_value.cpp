// PostgreSQL's binary format of arrays; all integers are big-endian: the number of dimensions, a flag for NULLs, the
// type of the elements; for each dimension (here one, or none without elements) its extent and its lowest index, 1;
// then each element after its length in bytes. The text format is {1,2,3}.

#include "server/values/tensor_value.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "common/check.hpp"
#include "common/hexadecimal.hpp"
#include "engine/files/tensor_export.hpp"
#include "server/values/value_format.hpp"

namespace eindb {
namespace {

using frontend::Format;

// The number of elements per block; a block fits in the first-level cache.
constexpr std::int64_t kBlock = 512;
constexpr std::size_t kArrayHead = 12;
constexpr std::size_t kArrayDimension = 8;

void append_array_head(std::string& out, DataType element, std::int64_t count) {
  append_big_endian<std::int32_t>(out, count > 0 ? 1 : 0);
  append_big_endian<std::int32_t>(out, 0);
  append_big_endian(out, static_cast<std::int32_t>(element));
  if (count == 0) return;
  append_big_endian(out, static_cast<std::int32_t>(count));
  append_big_endian<std::int32_t>(out, 1);
}

// `bytes` for each of `count` elements plus `more`; a number beyond the limit if that is too large.
std::int64_t limited_size(std::int64_t count, std::int64_t bytes, std::int64_t more) {
  CHECK(count >= 0 && bytes > 0 && more >= 0, "elements have bytes");
  return count > kMostRowBytes / bytes ? kMostRowBytes + 1 : count * bytes + more;
}

// Describes the numbers of type T in each element: `step` of them, of which number `offset` is used.
struct Numbers {
  std::int64_t step = 1;
  std::int64_t offset = 0;

  template <class T>
  const T* of(const Tile& strip, std::int64_t first, std::int64_t count) const {
    CHECK(first >= 0 && count >= 0 &&
              std::cmp_less_equal((first + count) * step * static_cast<std::int64_t>(sizeof(T)), strip.bytes().size()),
          "elements that are written lie in their strip");
    return reinterpret_cast<const T*>(strip.bytes().data()) + first * step + offset;
  }
};

template <class T>
class BinaryArray final : public TensorValue {
 public:
  BinaryArray(DataType element, std::int64_t count, Numbers numbers)
      : element_(element), count_(count), numbers_(numbers) {}

  std::int64_t size(TensorStrips& /*strips*/) override {
    return limited_size(count_, kElementBytes, kArrayHead + (count_ > 0 ? kArrayDimension : 0));
  }
  void begin(std::string& out) override { append_array_head(out, element_, count_); }
  void append(std::string& out, const Tile& strip, std::int64_t first, std::int64_t count) override {
    std::array<char, kBlock * kElementBytes> block;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    for (; count > 0; first += kBlock, count -= kBlock) {
      const auto size = std::min(count, kBlock);
      const auto* const numbers = numbers_.of<T>(strip, first, size);
      for (std::int64_t n = 0; n < size; ++n) put(block.data() + n * kElementBytes, numbers[n * numbers_.step]);
      out.append(block.data(), static_cast<std::size_t>(size * kElementBytes));
    }
  }

 private:
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr std::int64_t kElementBytes = sizeof(std::int32_t) + sizeof(T);

  static void put(char* to, T number) {
    constexpr std::uint32_t kLength = __builtin_bswap32(sizeof(T));
    const auto bits = std::bit_cast<Bits>(number);
    const Bits reversed = sizeof(T) == 4 ? static_cast<Bits>(__builtin_bswap32(static_cast<std::uint32_t>(bits)))
                                         : static_cast<Bits>(__builtin_bswap64(bits));
    std::memcpy(to, &kLength, sizeof kLength);
    std::memcpy(to + sizeof kLength, &reversed, sizeof reversed);
  }

  DataType element_;
  std::int64_t count_;
  Numbers numbers_;
};

template <class T>
class ArrayAsText final : public TensorValue {
 public:
  ArrayAsText(std::int64_t count, Numbers numbers) : count_(count), numbers_(numbers) {}

  // An element takes at least two bytes, with its comma.
  std::int64_t size(TensorStrips& strips) override {
    auto size = limited_size(count_, 2, 1);
    if (size > kMostRowBytes || count_ == 0) return count_ == 0 ? 2 : size;
    size = 0;
    std::string text;
    begin(text);
    strips.rewind();
    for (auto strip = strips.next(); strip != nullptr && size <= kMostRowBytes; strip = strips.next()) {
      const auto elements = strip->shape().element_count();
      for (std::int64_t first = 0; first < elements; first += kBlock) {
        append(text, *strip, first, std::min(kBlock, elements - first));
        size += static_cast<std::int64_t>(text.size());
        text.clear();
      }
    }
    return size + 1;
  }
  void begin(std::string& out) override {
    before_ = '{';
    if (count_ == 0) out += '{';
  }
  void append(std::string& out, const Tile& strip, std::int64_t first, std::int64_t count) override {
    const auto* const numbers = numbers_.of<T>(strip, first, count);
    for (std::int64_t n = 0; n < count; ++n) {
      out += std::exchange(before_, ',');
      append_sql_number(out, numbers[n * numbers_.step]);
    }
  }
  std::string_view end() const override { return "}"; }

 private:
  std::int64_t count_;
  Numbers numbers_;
  char before_ = '{';  // separator before the next element
};

class NpyBytes : public TensorValue {
 public:
  explicit NpyBytes(const TensorRelation& tensor)
      : header_(npy_header(tensor)),
        count_(tensor.grid.shape().element_count()),
        element_bytes_(static_cast<std::int64_t>(size_of(tensor.dtype))) {}

  std::int64_t size(TensorStrips& /*strips*/) override {
    return limited_size(count_, element_bytes_, static_cast<std::int64_t>(header_.size()));
  }
  void begin(std::string& out) override { out += header_; }
  void append(std::string& out, const Tile& strip, std::int64_t first, std::int64_t count) override {
    out += bytes_of(strip, first, count);
  }

 protected:
  const std::string& header() const { return header_; }
  std::string_view bytes_of(const Tile& strip, std::int64_t first, std::int64_t count) const {
    CHECK(std::cmp_less_equal((first + count) * element_bytes_, strip.bytes().size()),
          "bytes that are written lie in their strip");
    const auto bytes = strip.bytes().subspan(static_cast<std::size_t>(first * element_bytes_),
                                             static_cast<std::size_t>(count * element_bytes_));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::string header_;
  std::int64_t count_;
  std::int64_t element_bytes_;
};

// The text format of bytea: two digits per byte.
class NpyText final : public NpyBytes {
 public:
  using NpyBytes::NpyBytes;

  std::int64_t size(TensorStrips& strips) override { return 2 + 2 * NpyBytes::size(strips); }
  void begin(std::string& out) override {
    out += "\\x";
    append_hexadecimal(out, header());
  }
  void append(std::string& out, const Tile& strip, std::int64_t first, std::int64_t count) override {
    append_hexadecimal(out, bytes_of(strip, first, count));
  }
};

template <class T>
std::unique_ptr<TensorValue> array_of(DataType element, std::int64_t count, Numbers numbers, Format format) {
  if (format == Format::Text) return std::make_unique<ArrayAsText<T>>(count, numbers);
  return std::make_unique<BinaryArray<T>>(element, count, numbers);
}

std::unique_ptr<TensorValue> array_of(const TensorRelation& tensor, Numbers numbers, Format format) {
  const auto count = tensor.grid.shape().element_count();
  switch (tensor.dtype) {
    case DType::Int64: return array_of<std::int64_t>(DataType::Int8, count, numbers, format);
    case DType::Float32:
    case DType::Complex64: return array_of<float>(DataType::Float4, count, numbers, format);
    case DType::Float64:
    case DType::Complex128: break;
  }
  return array_of<double>(DataType::Float8, count, numbers, format);
}

}  // namespace

std::vector<ClientColumn> whole_tensor_columns(ResultFormat format, ColumnType value) {
  const ClientColumn shape{"shape", DataType::Int8Array};
  if (format == ResultFormat::Npy) return {shape, {"val", DataType::Bytea}};
  const auto* const info = find_data_type(data_type(value));
  CHECK(info != nullptr && info->array != DataType::Unspecified, "there are arrays of what tensors have");
  const auto type = info->array;
  if (is_complex(value)) return {shape, {"val_re", type}, {"val_im", type}};
  return {shape, {"val", type}};
}

std::vector<std::unique_ptr<TensorValue>> whole_tensor_values(const TensorRelation& tensor, ResultFormat format,
                                                              const std::vector<Format>& formats) {
  std::vector<std::unique_ptr<TensorValue>> values;
  const auto first = format_of(formats, 1);
  if (format == ResultFormat::Npy) {
    values.push_back(first == Format::Text ? std::make_unique<NpyText>(tensor) : std::make_unique<NpyBytes>(tensor));
  } else if (is_complex(tensor.dtype)) {
    values.push_back(array_of(tensor, {.step = 2, .offset = 0}, first));
    values.push_back(array_of(tensor, {.step = 2, .offset = 1}, format_of(formats, 2)));
  } else {
    values.push_back(array_of(tensor, {}, first));
  }
  return values;
}

std::string shape_value(const TensorRelation& tensor, Format format) {
  const auto& extents = tensor.grid.shape().extents();
  std::string value;
  if (format == Format::Text) {
    for (const auto extent : extents) value += (value.empty() ? "{" : ",") + std::to_string(extent);
    return value.empty() ? "{}" : value + "}";
  }
  append_array_head(value, DataType::Int8, static_cast<std::int64_t>(extents.size()));
  for (const auto extent : extents) {
    append_big_endian(value, static_cast<std::int32_t>(sizeof extent));
    append_big_endian(value, extent);
  }
  return value;
}

}  // namespace eindb
