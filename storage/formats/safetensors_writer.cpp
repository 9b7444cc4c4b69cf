// safetensors_header.cpp documents the format.

#include "storage/formats/safetensors_writer.hpp"

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
#include "storage/formats/half_precision.hpp"
#include "storage/formats/little_endian.hpp"
#include "storage/formats/safetensors_header.hpp"

namespace eindb {
namespace {

constexpr std::array<std::pair<SafetensorsType, std::string_view>, 5> kNames{{{SafetensorsType::F16, "F16"},
                                                                              {SafetensorsType::BF16, "BF16"},
                                                                              {SafetensorsType::F32, "F32"},
                                                                              {SafetensorsType::F64, "F64"},
                                                                              {SafetensorsType::I64, "I64"}}};

SafetensorsType native_type(DType dtype) {
  if (dtype == DType::Int64) return SafetensorsType::I64;
  return dtype == DType::Float64 ? SafetensorsType::F64 : SafetensorsType::F32;
}

SafetensorsType stored_type(DType dtype, std::optional<SafetensorsType> wanted) {
  if (is_complex(dtype)) {
    throw Error(ErrorKind::Unsupported, "safetensors holds real numbers, not " + std::string(name_of(dtype)),
                std::nullopt, "write it as npy or npz, or its REAL() and IMAG() one by one");
  }
  const auto native = native_type(dtype);
  const auto stored = wanted.value_or(native);
  if ((native == SafetensorsType::I64) == (stored == SafetensorsType::I64)) return stored;
  throw Error(ErrorKind::Unsupported,
              std::string(name_of(dtype)) + " is written as " + std::string(name_of(native)) + ", not as " +
                  std::string(name_of(stored)),
              std::nullopt, "copy a query that has CAST(... AS FLOAT64) or CAST(... AS INT64) in it");
}

std::size_t size_of(SafetensorsType type) {
  if (type == SafetensorsType::F16 || type == SafetensorsType::BF16) return 2;
  return type == SafetensorsType::F32 ? 4 : 8;
}

std::string make_header(const std::string& name, SafetensorsType type, const Shape& shape, std::int64_t bytes) {
  if (name.empty() || name == "__metadata__")
    throw Error(ErrorKind::Value, "a tensor of a safetensors file cannot have the name " + quoted_name(name));
  nlohmann::ordered_json entry;
  entry["dtype"] = name_of(type);
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

template <class Source>
std::vector<std::byte> converted(const Tile& block, SafetensorsType type) {
  switch (type) {
    case SafetensorsType::F16: return converted<Source, std::uint16_t>(block, [](Source v) { return to_half(v); });
    case SafetensorsType::BF16:
      return converted<Source, std::uint16_t>(block, [](Source v) { return to_brain_float(v); });
    case SafetensorsType::F32: return converted<Source, float>(block, [](Source v) { return static_cast<float>(v); });
    default: return converted<Source, double>(block, [](Source v) { return static_cast<double>(v); });
  }
}

}  // namespace

std::string_view name_of(SafetensorsType type) {
  const auto& [listed, name] = kNames.at(static_cast<std::size_t>(type));
  DCHECK(listed == type, "kNames lists the types in their order");
  return name;
}

std::optional<SafetensorsType> parse_safetensors_type(std::string_view name) {
  for (const auto& [type, text] : kNames)
    if (equal_ignoring_case(text, name)) return type;
  return std::nullopt;
}

SafetensorsWriter::SafetensorsWriter(const FilePath& path, const std::string& name, DType dtype, Shape shape,
                                     std::optional<SafetensorsType> stored, Overwrite overwrite)
    : file_(path), dtype_(dtype), shape_(std::move(shape)), stored_(stored_type(dtype, stored)) {
  require_regular_file(file_.is_seekable(), file_.path(), "safetensors");
  const auto bytes = checked_multiply(shape_.element_count(), static_cast<std::int64_t>(size_of(stored_)));
  const auto header = make_header(name, stored_, shape_, bytes);
  keep_other_arrays(file_, path, name, overwrite, tensors_of);
  data_offset_ = static_cast<std::int64_t>(header.size());
  file_.resize(checked_add(data_offset_, bytes));
  file_.write_at(0, std::as_bytes(std::span(header)));
}

void SafetensorsWriter::write_block(const std::vector<std::int64_t>& begin, const Tile& block) {
  CHECK(block.dtype() == dtype_, "a block has the type of its file");
  const auto put = [&](std::int64_t offset, auto bytes) { file_.write_at(data_offset_ + offset, bytes); };
  if (stored_ == native_type(dtype_)) return write_dense_block(shape_, begin, block, put);
  CHECK(dtype_ == DType::Float64 || dtype_ == DType::Float32, "only floats are rounded to other floats");
  const auto bytes = dtype_ == DType::Float64 ? converted<double>(block, stored_) : converted<float>(block, stored_);
  write_dense_block(shape_, begin, block.shape(), bytes, size_of(stored_), put);
}

}  // namespace eindb
