#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/results/tensor_strips.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/values/result_format.hpp"
#include "server/values/row_writer.hpp"

namespace eindb {

/// The size limit of PostgreSQL's clients for a row, and so for a value.
inline constexpr std::int64_t kMostRowBytes = (std::int64_t{1} << 30U) - 1;

/// A tensor as one value of a row. Its size is known in advance, and its bytes are written in pieces.
///
///     begin, append elements, append elements, ..., end
///
/// Not thread-safe.
class TensorValue {
 public:
  virtual ~TensorValue() = default;
  /// The size of the value in bytes; any number beyond kMostRowBytes if it is too large. Text formats read all elements
  /// to compute it, and throw the errors of TensorStrips::next().
  virtual std::int64_t size(TensorStrips& strips) = 0;
  virtual void begin(std::string& out) = 0;
  /// Appends elements [first, first + count) of a strip.
  virtual void append(std::string& out, const Tile& strip, std::int64_t first, std::int64_t count) = 0;
  /// The bytes after the elements.
  virtual std::string_view end() const { return {}; }
};

/// The client's columns for a whole tensor of element type `value`, in a format other than Rows: `shape`, then `val`,
/// or `val_re` and `val_im`.
std::vector<ClientColumn> whole_tensor_columns(ResultFormat format, ColumnType value);

/// The values of the columns after `shape`. `formats` is for all columns.
std::vector<std::unique_ptr<TensorValue>> whole_tensor_values(const TensorRelation& tensor, ResultFormat format,
                                                              const std::vector<frontend::Format>& formats);

/// The value of the column `shape`.
std::string shape_value(const TensorRelation& tensor, frontend::Format format);

}  // namespace eindb
