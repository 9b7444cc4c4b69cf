#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/dtype.hpp"

namespace eindb {

/// How the cells of a tensor are stored. All but Plain take less room than a DType and hold fewer values; whatever is
/// computed from them is computed with values of that DType. The numbers are part of the tile format: never reuse one.
enum class Encoding : std::uint8_t {
  Plain = 0,  ///< as they lie in memory
  Bool = 1,   ///< 0 and 1, in one bit each; values are INT64, like those of all integers
  Int8 = 2,
  UInt8 = 3,
  Int16 = 4,
  UInt16 = 5,
  Int32 = 6,
  UInt32 = 7,
  Float16 = 8,      ///< IEEE binary16; values are FLOAT32, like those of all floats
  BFloat16 = 9,     ///< the upper half of a binary32
  Float8E4M3 = 10,  ///< OCP's E4M3: no infinities, up to 448
  Float8E5M2 = 11,  ///< OCP's E5M2: up to 57344
  Q80 = 12,         ///< GGML's: 32 cells in 8 bits each, with a binary16 that scales them
  Q40 = 13,         ///< the same in 4 bits each
};
inline constexpr Encoding kLastEncoding = Encoding::Q40;

/// The type of a stored tensor: of its values, and their encoding.
struct StoredType {
  DType values = DType::Float64;
  Encoding encoding = Encoding::Plain;

  /// Implicit: what is computed in a type can be stored as it.
  constexpr StoredType(DType type = DType::Float64, Encoding stored = Encoding::Plain)  // NOLINT(google-explicit-*)
      : values(type), encoding(stored) {}

  friend bool operator==(const StoredType&, const StoredType&) = default;
};

/// The only type with that encoding, which is not Plain.
StoredType with_encoding(Encoding encoding);

/// "FLOAT32", "BFLOAT16", ...
std::string_view name_of(StoredType type);
/// Reads a type's name, case-insensitively: those of DType and of encodings, with the aliases BOOLEAN, HALF, BF16,
/// E4M3 and E5M2.
std::optional<StoredType> parse_stored_type(std::string_view name);
/// All names but aliases, for messages: "FLOAT32, FLOAT64, ..., BOOL, INT8, ...".
std::string stored_type_names();
/// The encoding of a number in a file; nullopt if there is none.
std::optional<Encoding> encoding_from_code(std::int64_t code);

/// Cells that are encoded together, and their bytes.
struct EncodingUnit {
  std::int64_t cells = 1;
  std::int64_t bytes = 1;
};
EncodingUnit unit_of(StoredType type);
/// Bytes of that many cells, which are not negative; the last unit is filled up.
std::int64_t encoded_bytes(StoredType type, std::int64_t cells);

/// Whether a block of cells has a scale, which their values depend on.
constexpr bool has_scales(Encoding encoding) { return encoding == Encoding::Q80 || encoding == Encoding::Q40; }

/// Whether FLOAT32 holds all values of a type of integers: then they adapt to the type that they meet, as constants do.
constexpr bool adapts(Encoding encoding) { return encoding >= Encoding::Bool && encoding <= Encoding::UInt16; }

}  // namespace eindb
