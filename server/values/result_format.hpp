#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace eindb {

/// How the tensor that a statement gives comes to the client: SET result_format.
enum class ResultFormat : std::uint8_t {
  Rows,   ///< a row for each element: its labels and its value
  Array,  ///< one row: the shape, and the elements in row-major order as an array; complex ones as one of each part
  Npy     ///< one row: the shape, and the bytes of an NPY file
};

/// "rows", "array", "npy"; nullopt for other words.
std::optional<ResultFormat> parse_result_format(std::string_view name);

}  // namespace eindb
