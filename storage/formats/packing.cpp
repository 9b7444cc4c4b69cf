#include "storage/formats/packing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {

void Packing::set_scale(double scale, double offset, DType unpacked) {
  CHECK(unpacked == DType::Float32 || unpacked == DType::Float64, "scaled values are floats");
  is_scaled_ = true;
  scale_ = scale;
  offset_ = offset;
  unpacked_ = unpacked;
}

template <class Stored>
const Packing::Missing* Packing::find_missing(Stored value) const {
  for (const auto& missing : missing_) {
    if constexpr (std::is_integral_v<Stored>) {
      if (missing.integer == value) return &missing;
    } else {
      if (missing.real == double{value}) return &missing;  // a NaN stays one in any case
    }
  }
  return nullptr;
}

Tile Packing::unpack(Tile stored, const std::string& name) const {
  CHECK(stored.dtype() == stored_, "stored values have the type that was told");
  if (is_complex(stored_)) return stored;
  if (unpacked_ == DType::Int64) return checked_integers(std::move(stored), name);
  if (stored_ == DType::Int64) return unpacked_from<std::int64_t>(std::move(stored));
  return stored_ == DType::Float32 ? unpacked_from<float>(std::move(stored)) : unpacked_from<double>(std::move(stored));
}

Tile Packing::checked_integers(Tile stored, const std::string& name) const {
  const auto* values = stored.data<std::int64_t>();
  const auto count = stored.shape().element_count();
  for (std::int64_t n = 0; !missing_.empty() && n < count; ++n) {
    if (const auto* missing = find_missing(values[n])) {
      throw Error(ErrorKind::Value, name + " has missing cells (" + missing->text + "), which INT64 cannot hold",
                  std::nullopt, "RAW reads the values as they are stored");
    }
  }
  if (is_unsigned_ && std::any_of(values, values + count, [](auto value) { return value < 0; })) {
    throw Error(ErrorKind::Value, name + " holds an unsigned integer beyond INT64", std::nullopt,
                "save it as 64-bit floats");
  }
  return stored;
}

template <class Stored>
Tile Packing::unpacked_from(Tile stored) const {
  if (is_scaled_) return unpacked_ == DType::Float32 ? scaled<Stored, float>(stored) : scaled<Stored, double>(stored);
  if constexpr (std::is_floating_point_v<Stored>) {
    auto* values = stored.mutable_data<Stored>();
    for (std::int64_t n = 0; !missing_.empty() && n < stored.shape().element_count(); ++n)
      if (find_missing(values[n]) != nullptr) values[n] = std::numeric_limits<Stored>::quiet_NaN();
  }
  return stored;
}

template <class Stored, class Value>
Tile Packing::scaled(const Tile& stored) const {
  auto out = Tile::uninitialized(unpacked_, stored.shape());
  const auto* from = stored.data<Stored>();
  auto* to = out.mutable_data<Value>();
  for (std::int64_t n = 0; n < stored.shape().element_count(); ++n) {
    auto value = static_cast<double>(from[n]);
    if constexpr (std::is_integral_v<Stored>) {
      if (is_unsigned_) value = static_cast<double>(std::bit_cast<std::uint64_t>(from[n]));
    }
    to[n] = find_missing(from[n]) != nullptr ? std::numeric_limits<Value>::quiet_NaN()
                                             : static_cast<Value>(value * scale_ + offset_);
  }
  return out;
}

}  // namespace eindb
