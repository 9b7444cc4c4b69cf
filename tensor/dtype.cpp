#include "tensor/dtype.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace eindb {
namespace {

struct NamedType {
  std::string_view name;
  DType type;
};
constexpr std::array<NamedType, 7> kNames{{{"FLOAT32", DType::Float32},
                                           {"REAL", DType::Float32},
                                           {"FLOAT64", DType::Float64},
                                           {"DOUBLE", DType::Float64},
                                           {"COMPLEX64", DType::Complex64},
                                           {"COMPLEX128", DType::Complex128},
                                           {"INT64", DType::Int64}}};

bool is_single(DType type) { return type == DType::Float32 || type == DType::Complex64; }

}  // namespace

std::size_t size_of(DType type) {
  return dispatch(type, [](auto t) { return sizeof(typename decltype(t)::type); });
}

std::string_view name_of(DType type) {
  for (const auto& named : kNames)
    if (named.type == type && named.name != "REAL" && named.name != "DOUBLE") return named.name;
  return "?";
}

std::optional<DType> parse_dtype(std::string_view name) {
  const auto same = [&](std::string_view candidate) {
    return std::equal(name.begin(), name.end(), candidate.begin(), candidate.end(),
                      [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; });
  };
  for (const auto& named : kNames)
    if (same(named.name)) return named.type;
  return std::nullopt;
}

std::optional<DType> dtype_from_code(std::int64_t code) {
  if (code < 1 || code > 5) return std::nullopt;
  return static_cast<DType>(code);
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  const bool single = is_single(a) && is_single(b);
  if (is_complex(a) || is_complex(b)) return single ? DType::Complex64 : DType::Complex128;
  return DType::Float64;
}

DType real_of(DType type) {
  if (type == DType::Complex64) return DType::Float32;
  return type == DType::Complex128 ? DType::Float64 : type;
}

DType complex_of(DType type) {
  if (is_complex(type)) return type;
  return type == DType::Float32 ? DType::Complex64 : DType::Complex128;
}

DType floating_of(DType type) { return type == DType::Int64 ? DType::Float64 : type; }

}  // namespace eindb
