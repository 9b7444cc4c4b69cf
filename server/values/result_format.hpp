#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace eindb {

/// The form of a statement's tensor for the client: SET result_format.
enum class ResultFormat : std::uint8_t {
  Rows,  ///< one row per element: its labels and its value
  /// One row: the shape, and the elements in row-major order as an array; complex numbers as two arrays of their parts.
  Array,
  Npy  ///< one row: the shape, and the bytes of an NPY file
};

/// "rows", "array", "npy"; nullopt for other words.
std::optional<ResultFormat> parse_result_format(std::string_view name);

}  // namespace eindb
