#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "tensor/einsum.hpp"

namespace eindb {

/// A value and the index at which it stands, as one complex number: what FirstLeast and FirstGreatest aggregate. The
/// real part decides, and of equal ones the least imaginary part.
///
/// FLOAT32 and FLOAT64 are COMPLEX(value, index). FLOAT64 does not hold all of INT64, so that the lowest 11 bits of
/// such a value stand above the 42 of the index:
///
///     COMPLEX(value without its lowest 11 bits, lowest bits * 2^42 + index)
///
/// both of which are whole numbers that FLOAT64 has. For FirstGreatest these bits are inverted, as the least imaginary
/// part wins.
struct PlacedValue {
  ScalarPtr value;
  DType type =
      DType::Float64;  ///< of the value: INT64, or FLOAT32 or FLOAT64, which the expression does not tell apart
  Label label;         ///< whose index is placed
};

/// The number of indices that can stand beside a value of this type.
std::int64_t most_places(DType type);

/// The expression, which has types, of a value of this type with the index of a label.
ScalarPtr with_place(ScalarPtr value, DType type, Label label, Aggregate aggregate);

/// The value, of this type, and the index of such a complex number.
ScalarPtr value_of_placed(const ScalarPtr& placed, DType type, Aggregate aggregate);
ScalarPtr index_of_placed(const ScalarPtr& placed, DType type);

/// The parts of an EinSum that aggregates values with their indices, as with_place() writes them; its type is INT64 or
/// FLOAT64. nullopt for anything else.
std::optional<PlacedValue> placed_value(const EinSum& einsum);

// ---- Likewise of numbers -------------------------------------------------------------------------------------------

inline constexpr unsigned kPlaceBits = 42;
inline constexpr std::int64_t kLowValueBits = (std::int64_t{1} << (53U - kPlaceBits)) - 1;

template <class T>
std::complex<double> placed_number(T value, std::int64_t index, Aggregate aggregate) {
  if constexpr (std::is_integral_v<T>) {
    const auto low = (aggregate == Aggregate::FirstLeast ? value : ~value) & kLowValueBits;
    return {static_cast<double>(value & ~kLowValueBits), static_cast<double>((low << kPlaceBits) + index)};
  } else {
    return {static_cast<double>(value), static_cast<double>(index)};
  }
}

}  // namespace eindb
