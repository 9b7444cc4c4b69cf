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

/// Of a row, and so of a value: what PostgreSQL's clients take.
inline constexpr std::int64_t kMostRowBytes = (std::int64_t{1} << 30U) - 1;

/// A tensor as one value of a row, whose bytes are written in pieces: how many they are is known before.
///
///     begin, append elements, append elements, ..., end
///
/// Not thread-safe.
class TensorValue {
 public:
  virtual ~TensorValue() = default;
  /// Bytes of the value; beyond kMostRowBytes some number beyond. Text has to read the elements for it: throws as
  /// TensorStrips::next().
  virtual std::int64_t size(TensorStrips& strips) = 0;
  virtual void begin(std::string& out) = 0;
  /// Elements [first, first + count) of a strip.
  virtual void append(std::string& out, const Tile& strip, std::int64_t first, std::int64_t count) = 0;
  /// What is behind the elements.
  virtual std::string_view end() const { return {}; }
};

/// What a client sees of a tensor whose elements are `value` in a format that is not Rows: `shape`, then `val`, or
/// `val_re` and `val_im`.
std::vector<ClientColumn> whole_tensor_columns(ResultFormat format, ColumnType value);

/// The values of the columns behind `shape`, in the formats of all columns.
std::vector<std::unique_ptr<TensorValue>> whole_tensor_values(const TensorRelation& tensor, ResultFormat format,
                                                              const std::vector<frontend::Format>& formats);

/// The value of the column `shape`.
std::string shape_value(const TensorRelation& tensor, frontend::Format format);

}  // namespace eindb
