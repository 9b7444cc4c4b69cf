#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/arrow/arrow_values.hpp"
#include "engine/results/result.hpp"
#include "engine/results/tensor_strips.hpp"

namespace eindb {

/// A table in batches of rows. Not thread-safe.
class ArrowBatchSource {
 public:
  virtual ~ArrowBatchSource() = default;
  /// The type of a row, a struct of its columns.
  virtual ArrowField schema() = 0;
  /// The next rows; nullopt after the last. Throws the errors of what they are read from, and Error{Type}.
  virtual std::optional<ArrowValues> next() = 0;
};

/// The rows of a result that are left, in batches of at most `rows_per_batch`. SQLite's values have types of their own,
/// so that a column whose type nothing says has that of the rows of the first batch; Error{Type} for a later value of
/// another one.
std::unique_ptr<ArrowBatchSource> row_batches(Result result, std::int64_t rows_per_batch);
/// The cells of a tensor in row-major order: labels, as integers, texts, days or times, and `val`, which lies in the
/// memory of the strips.
std::unique_ptr<ArrowBatchSource> tensor_batches(TensorStrips strips, std::int64_t rows_per_batch);

}  // namespace eindb
