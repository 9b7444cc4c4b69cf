// safetensors_header.cpp documents the format.

#include "storage/formats/safetensors_writer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/dense_block_writer.hpp"
#include "storage/formats/little_endian.hpp"
#include "storage/formats/safetensors_header.hpp"
#include "tensor/small_float.hpp"

namespace eindb {
namespace {

struct NamedType {
  std::string_view name;
  StoredType type;
};

const std::array<NamedType, 14>& named_types() {
  static const std::array<NamedType, 14> kTypes{{{"F64", DType::Float64},
                                                 {"F32", DType::Float32},
                                                 {"F16", with_encoding(Encoding::Float16)},
                                                 {"BF16", with_encoding(Encoding::BFloat16)},
                                                 {"F8_E4M3", with_encoding(Encoding::Float8E4M3)},
                                                 {"F8_E5M2", with_encoding(Encoding::Float8E5M2)},
                                                 {"I64", DType::Int64},
                                                 {"I32", with_encoding(Encoding::Int32)},
                                                 {"I16", with_encoding(Encoding::Int16)},
                                                 {"I8", with_encoding(Encoding::Int8)},
                                                 {"U32", with_encoding(Encoding::UInt32)},
                                                 {"U16", with_encoding(Encoding::UInt16)},
                                                 {"U8", with_encoding(Encoding::UInt8)},
                                                 {"BOOL", with_encoding(Encoding::Bool)}}};
  return kTypes;
}

std::string_view safetensors_name_of(StoredType type) {
  for (const auto& named : named_types())
    if (named.type == type) return named.name;
  CHECK(false, "a type that is written has a name in the format");
}

// The type in the file for that of a tensor.
StoredType native_type(StoredType type) {
  const bool is_known = std::any_of(named_types().begin(), named_types().end(),
                                    [&](const NamedType& named) { return named.type == type; });
  return is_known ? type : StoredType(type.values);
}

StoredType stored_type(StoredType type, std::optional<StoredType> wanted) {
  if (is_complex(type.values)) {
    throw Error(ErrorKind::Unsupported, "safetensors holds real numbers, not " + std::string(name_of(type)),
                std::nullopt, "write it as npy or npz, or its REAL() and IMAG() one by one");
  }
  const auto native = native_type(type);
  const auto stored = wanted.value_or(native);
  if ((native.values == DType::Int64) == (stored.values == DType::Int64)) return stored;
  throw Error(ErrorKind::Unsupported,
              std::string(name_of(type)) + " is written as " + std::string(safetensors_name_of(native)) + ", not as " +
                  std::string(safetensors_name_of(stored)),
              std::nullopt, "copy a query that has CAST(... AS FLOAT64) or CAST(... AS INT64) in it");
}

std::string make_header(const std::string& name, StoredType type, const Shape& shape, std::int64_t bytes) {
  if (name.empty() || name == "__metadata__")
    throw Error(ErrorKind::Value, "a tensor of a safetensors file cannot have the name " + quoted_name(name));
  nlohmann::ordered_json entry;
  entry["dtype"] = safetensors_name_of(type);
  entry["shape"] = shape.extents();
  entry["data_offsets"] = {0, bytes};
  auto text = nlohmann::ordered_json{{name, entry}}.dump();
  text.resize(text.size() + (8 - text.size() % 8) % 8, ' ');  // values are aligned to eight bytes
  std::string out;
  append_little_endian(out, std::uint64_t{text.size()});
  CHECK((out.size() + text.size()) % 8 == 0, "the values begin aligned");
  return out + text;
}

std::vector<std::string> tensors_of(const InputFile& file) {
  std::vector<std::string> names;
  for (const auto& entry : read_safetensors_header(file)) names.push_back(entry.name);
  return names;
}

template <class Source, class Target, class Convert>
std::vector<std::byte> converted(const Tile& block, const Convert& convert) {
  std::vector<std::byte> out(static_cast<std::size_t>(block.shape().element_count()) * sizeof(Target));
  const auto* source = block.data<Source>();
  for (std::size_t n = 0; n * sizeof(Target) < out.size(); ++n) {
    const Target value = convert(source[n]);
    std::memcpy(out.data() + n * sizeof(Target), &value, sizeof value);
  }
  return out;
}

// FLOAT64 as smaller floats: rounded once, not by way of FLOAT32.
std::vector<std::byte> rounded(const Tile& block, StoredType type) {
  const auto to = [&]<class Small>(Small /*type*/) {
    return converted<double, Small>(block, [](double value) { return round_to<Small>(value); });
  };
  switch (type.encoding) {
    case Encoding::Float16: return to(Half{});
    case Encoding::BFloat16: return to(BrainFloat{});
    case Encoding::Float8E4M3: return to(Float8E4M3{});
    case Encoding::Float8E5M2: return to(Float8E5M2{});
    default: CHECK(type == DType::Float32, "floats are rounded to smaller floats"); break;
  }
  return converted<double, float>(block, [](double value) { return static_cast<float>(value); });
}

}  // namespace

std::string safetensors_type_names() {
  std::string out;
  for (const auto& named : named_types()) out += (out.empty() ? "" : ", ") + std::string(named.name);
  return out;
}

std::optional<StoredType> parse_safetensors_type(std::string_view name) {
  for (const auto& named : named_types())
    if (equal_ignoring_case(named.name, name)) return named.type;
  return std::nullopt;
}

SafetensorsWriter::SafetensorsWriter(const FilePath& path, const std::string& name, StoredType type, Shape shape,
                                     std::optional<StoredType> wanted, Overwrite overwrite)
    : file_(path), dtype_(type.values), shape_(std::move(shape)), stored_(stored_type(type, wanted)) {
  require_regular_file(file_.is_seekable(), file_.path(), "safetensors");
  const auto bytes = checked_multiply(shape_.element_count(), std::int64_t{npy_element_of(stored_).size});
  const auto header = make_header(name, stored_, shape_, bytes);
  keep_other_arrays(file_, path, name, overwrite, tensors_of);
  data_offset_ = static_cast<std::int64_t>(header.size());
  file_.resize(checked_add(data_offset_, bytes));
  file_.write_at(0, std::as_bytes(std::span(header)));
}

void SafetensorsWriter::write_block(const std::vector<std::int64_t>& begin, const Tile& block) {
  CHECK(block.dtype() == dtype_, "a block has the type of its file");
  const auto put = [&](std::int64_t offset, auto bytes) { file_.write_at(data_offset_ + offset, bytes); };
  const auto element = npy_element_of(stored_);
  if (element.dtype() == dtype_) return write_dense_block(shape_, begin, block, element, put);
  const auto bytes = dtype_ == DType::Float64
                         ? rounded(block, stored_)
                         : converted<float, double>(block, [](float value) { return double{value}; });
  write_dense_block(shape_, begin, block.shape(), bytes, static_cast<std::size_t>(element.size), put);
}

}  // namespace eindb
