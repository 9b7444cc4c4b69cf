#include "storage/formats/zarr_array.hpp"

#include <cstring>

#include "common/checked_math.hpp"

namespace eindb {

Packing ZarrArray::packing_of(PackedValues values) const {
  const auto stored = element.dtype();
  Packing out(stored);
  if (values == PackedValues::Keep || is_complex(stored)) return out;
  const bool is_packed = packing.scale || packing.offset;
  if (is_packed) out.set_scale(packing.scale.value_or(1), packing.offset.value_or(0), DType::Float64);
  for (const auto& missing : packing.missing) out.add_missing(missing);
  if (!is_packed || !has_fill || version != 2) return out;
  Packing::Missing missing{.text = "fill_value"};
  if (stored == DType::Int64) std::memcpy(&missing.integer, fill.data(), sizeof missing.integer);
  if (stored == DType::Float64) std::memcpy(&missing.real, fill.data(), sizeof missing.real);
  float single = 0;
  std::memcpy(&single, fill.data(), sizeof single);
  if (stored == DType::Float32) missing.real = double{single};
  out.add_missing(missing);
  return out;
}

StoredType ZarrArray::type_of(PackedValues values) const {
  const auto read = packing_of(values);
  return read.is_scaled() ? StoredType(read.dtype()) : element.type();
}

std::int64_t ZarrArray::chunk_bytes() const { return checked_product(chunk) * element.size; }

std::vector<std::int64_t> ZarrArray::files() const {
  std::vector<std::int64_t> out;
  for (std::size_t d = 0; d < chunk.size(); ++d)
    out.push_back(ceil_divide(ceil_divide(shape[d], chunk[d]), shards ? shards->chunks[d] : 1));
  return out;
}

std::string ZarrArray::file_name(const std::vector<std::int64_t>& file) const {
  std::string out = has_chunk_prefix ? "c" : "";
  for (const auto index : file) {
    if (!out.empty()) out += separator;
    out += std::to_string(index);
  }
  return out.empty() ? "0" : out;
}

}  // namespace eindb
