#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/tile.hpp"

namespace eindb {

/// Which values of a data set are read, if its attributes say that it is packed.
enum class PackedValues : std::uint8_t {
  Unpack,  ///< those that are meant: missing ones are found, scale and offset applied
  Keep,    ///< those that are stored
};

/// How the stored values of an array stand for those that are meant, by netCDF's and CF's conventions (CF, section 8.1
/// and 2.5.1): `value = stored * scale + offset`, except that some stored values mean that there is none. Example:
/// 16-bit integers with the scale 0.5, the offset 10 and the missing value -1 unpack [4, -1, 0] to [12, NaN, 10].
class Packing {
 public:
  /// A stored value that means none, in the type of stored values: a float, or 64 bits of an integer.
  struct Missing {
    std::int64_t integer = 0;
    double real = 0;
    std::string text;  ///< for messages: "_FillValue -999"
  };

  /// Stored values that are what is meant. `is_unsigned`: INT64 elements hold the 64 bits of unsigned integers.
  explicit Packing(DType stored = DType::Float64, bool is_unsigned = false)
      : stored_(stored), unpacked_(stored), is_unsigned_(is_unsigned) {}

  /// From now on values are of type `unpacked`, FLOAT32 or FLOAT64.
  void set_scale(double scale, double offset, DType unpacked);
  void add_missing(Missing missing) { missing_.push_back(std::move(missing)); }

  /// The type of unpacked values.
  DType dtype() const { return unpacked_; }
  bool is_unsigned() const { return is_unsigned_; }
  /// Whether values are others than those that are stored, not only NaN in place of some.
  bool is_scaled() const { return is_scaled_; }
  /// The values that are meant. Missing ones are NaN; if their type is INT64, which has none, Error{Value}, as for
  /// unsigned integers beyond INT64. `name` begins messages. May change `stored`.
  Tile unpack(Tile stored, const std::string& name) const;

 private:
  template <class Stored>
  const Missing* find_missing(Stored value) const;
  Tile checked_integers(Tile stored, const std::string& name) const;
  template <class Stored>
  Tile unpacked_from(Tile stored) const;
  template <class Stored, class Value>
  Tile scaled(const Tile& stored) const;

  DType stored_;
  DType unpacked_;
  bool is_unsigned_;
  bool is_scaled_ = false;
  double scale_ = 1;
  double offset_ = 0;
  std::vector<Missing> missing_;
};

}  // namespace eindb
