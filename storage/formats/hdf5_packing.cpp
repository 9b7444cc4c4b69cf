#include "storage/formats/hdf5_packing.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "common/check.hpp"
#include "tensor/number_text.hpp"

namespace eindb {
namespace {

constexpr hssize_t kMostMissing = 64;

/// The numbers of an attribute.
struct Numbers {
  std::vector<std::variant<std::int64_t, std::uint64_t, double>> values;
  bool is_single = false;  // floats of 32 bits, or fewer
};

/// Reads the attributes of one data set.
class Attributes {
 public:
  Attributes(hid_t dataset, const RefuseDataset& refuse) : dataset_(dataset), refuse_(refuse) {}

  bool has(const char* name) const {
    const auto there = H5Aexists(dataset_, name);
    if (there < 0) fail(name, "that cannot be read");
    return there > 0;
  }

  /// nullopt if it is not there. It has one number, or up to `most`.
  std::optional<Numbers> numbers(const char* name, hssize_t most = 1) const {
    if (!has(name)) return std::nullopt;
    const Hdf5Handle attribute(H5Aopen(dataset_, name, H5P_DEFAULT), H5Aclose);
    const Hdf5Handle type(attribute ? H5Aget_type(attribute.get()) : H5I_INVALID_HID, H5Tclose);
    const Hdf5Handle space(attribute ? H5Aget_space(attribute.get()) : H5I_INVALID_HID, H5Sclose);
    if (!type || !space) fail(name, "that cannot be read");
    const auto kind = H5Tget_class(type.get());
    const auto count = H5Sget_simple_extent_npoints(space.get());
    const bool is_number = (kind == H5T_FLOAT || kind == H5T_INTEGER) && H5Tget_size(type.get()) <= 8;
    if (!is_number || count < 1) fail(name, "that is no number");
    if (count > most) fail(name, "of " + std::to_string(count) + " numbers");
    Numbers out;
    out.is_single = kind == H5T_FLOAT && H5Tget_size(type.get()) <= 4;
    const auto size = static_cast<std::size_t>(count);
    const bool done = kind == H5T_FLOAT ? read<double>(attribute, H5T_NATIVE_DOUBLE, size, out)
                      : H5Tget_sign(type.get()) == H5T_SGN_NONE
                          ? read<std::uint64_t>(attribute, H5T_NATIVE_UINT64, size, out)
                          : read<std::int64_t>(attribute, H5T_NATIVE_INT64, size, out);
    if (!done) fail(name, "that cannot be read");
    return out;
  }

  /// The number of a scale or an offset; nullopt if there is none.
  std::optional<double> real(const char* name, bool& all_single) const {
    const auto found = numbers(name);
    if (!found) return std::nullopt;
    const auto value = std::visit([](auto number) { return static_cast<double>(number); }, found->values.front());
    if (!std::isfinite(value)) fail(name, "that is not finite");
    all_single = all_single && found->is_single;
    return value;
  }

 private:
  template <class T>
  static bool read(const Hdf5Handle& attribute, hid_t type, std::size_t count, Numbers& out) {
    std::vector<T> values(count);
    if (H5Aread(attribute.get(), type, values.data()) < 0) return false;
    out.values.assign(values.begin(), values.end());
    return true;
  }

  void fail(const char* name, const std::string& what) const {
    refuse_(std::string("has an attribute ") + name + " " + what);
    CHECK(false, "what cannot be read is refused");
  }

  hid_t dataset_;
  const RefuseDataset& refuse_;
};

/// The integer of 64 bits, with a sign or without, that equals the number; nullopt if there is none.
template <class Integer>
std::optional<std::int64_t> integer_of(const std::variant<std::int64_t, std::uint64_t, double>& number) {
  using Limits = std::numeric_limits<Integer>;
  return std::visit(
      [](auto value) -> std::optional<std::int64_t> {
        if constexpr (std::is_floating_point_v<decltype(value)>) {
          const auto end = std::ldexp(1.0, Limits::digits);
          if (!(value >= static_cast<double>(Limits::min()) && value < end) || value != std::floor(value))
            return std::nullopt;
        } else {
          if (!std::in_range<Integer>(value)) return std::nullopt;
        }
        return std::bit_cast<std::int64_t>(static_cast<Integer>(value));
      },
      number);
}

std::string text_of(const std::variant<std::int64_t, std::uint64_t, double>& number) {
  std::string text;
  std::visit(
      [&](auto value) {
        if constexpr (std::is_same_v<decltype(value), std::uint64_t>) text = std::to_string(value);
        else append_number(text, value);
      },
      number);
  return text;
}

void add_missing(const Attributes& attributes, const char* name, hssize_t most, DType stored, Packing& out) {
  const auto numbers = attributes.numbers(name, most);
  if (!numbers) return;
  for (const auto& number : numbers->values) {
    Packing::Missing missing;
    missing.text = std::string(name) + " " + text_of(number);
    missing.real = std::visit([](auto value) { return static_cast<double>(value); }, number);
    // A missing value may be written in more digits than those that are stored have.
    if (stored == DType::Float32) missing.real = double{static_cast<float>(missing.real)};
    if (stored == DType::Int64) {
      const auto bits = out.is_unsigned() ? integer_of<std::uint64_t>(number) : integer_of<std::int64_t>(number);
      if (!bits) continue;  // no stored value is that
      missing.integer = *bits;
    }
    out.add_missing(std::move(missing));
  }
}

/// Floats of 32 bits only where no digit of stored values, scale or offset is lost.
DType type_of_scaled(DType stored, std::int64_t element_size, bool all_single) {
  const bool fits = stored == DType::Float32 || (stored == DType::Int64 && element_size <= 2);
  return fits && all_single ? DType::Float32 : DType::Float64;
}

}  // namespace

Packing read_hdf5_packing(hid_t dataset, DType stored, bool is_unsigned, std::int64_t element_size,
                          const RefuseDataset& refuse) {
  const Attributes attributes(dataset, refuse);
  Packing out(stored, is_unsigned);
  if (is_complex(stored)) {
    for (const char* name : {"_FillValue", "missing_value", "scale_factor", "add_offset"})
      if (attributes.has(name)) refuse(std::string("has an attribute ") + name + ", which complex numbers cannot have");
    return out;
  }
  if (stored == DType::Int64 && attributes.has("_Unsigned"))
    refuse("has an attribute _Unsigned, by which its integers are not what is stored");
  bool all_single = true;
  const auto scale = attributes.real("scale_factor", all_single);
  const auto offset = attributes.real("add_offset", all_single);
  if (scale || offset)
    out.set_scale(scale.value_or(1), offset.value_or(0), type_of_scaled(stored, element_size, all_single));
  add_missing(attributes, "_FillValue", 1, stored, out);
  add_missing(attributes, "missing_value", kMostMissing, stored, out);
  return out;
}

}  // namespace eindb
