#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace eindb {

/// Element types. The numbers are part of the tile format: never reuse one.
enum class DType : std::uint8_t { Float32 = 1, Float64 = 2, Complex64 = 3, Complex128 = 4, Int64 = 5 };

/// Bytes per element.
std::size_t size_of(DType type);
/// "FLOAT32", ...
std::string_view name_of(DType type);
/// Reads a type's name, case-insensitively, with the aliases REAL (FLOAT32) and DOUBLE (FLOAT64).
std::optional<DType> parse_dtype(std::string_view name);
/// The type of a number in a file or a catalog row; nullopt if there is no such type.
std::optional<DType> dtype_from_code(std::int64_t code);

constexpr bool is_complex(DType type) { return type == DType::Complex64 || type == DType::Complex128; }

/// NumPy's promotion: the smallest type that holds both; INT64 with FLOAT32 gives FLOAT64.
DType promote(DType a, DType b);
/// The real type of the same precision (itself for real types).
DType real_of(DType type);
/// The complex type of the same precision (itself for complex types).
DType complex_of(DType type);
/// The type of a quotient or of a transcendental function: FLOAT64 for INT64, otherwise itself.
DType floating_of(DType type);

template <class T>
inline constexpr DType dtype_of = [] {
  if constexpr (std::is_same_v<T, float>) return DType::Float32;
  else if constexpr (std::is_same_v<T, double>) return DType::Float64;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return DType::Complex64;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return DType::Complex128;
  else {
    static_assert(std::is_same_v<T, std::int64_t>);
    return DType::Int64;
  }
}();

/// Calls f with std::type_identity<T> of the C++ type behind `type`.
template <class F>
decltype(auto) dispatch(DType type, F&& f) {
  switch (type) {
    case DType::Float32: return std::forward<F>(f)(std::type_identity<float>{});
    case DType::Float64: return std::forward<F>(f)(std::type_identity<double>{});
    case DType::Complex64: return std::forward<F>(f)(std::type_identity<std::complex<float>>{});
    case DType::Complex128: return std::forward<F>(f)(std::type_identity<std::complex<double>>{});
    case DType::Int64: break;
  }
  return std::forward<F>(f)(std::type_identity<std::int64_t>{});
}

}  // namespace eindb
