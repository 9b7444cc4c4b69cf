#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "engine/results/tensor_strips.hpp"
#include "server/rows/row_stream.hpp"
#include "server/values/tensor_value.hpp"

namespace eindb {

/// A tensor as one row: its shape, and its elements as one value, or two if they are complex. The row is written from
/// strips of the tensor, a portion at a time, so that no copy of it is held.
///
/// The length of a message precedes it. If the elements end early, because a tile cannot be read or the statement is
/// cancelled, the row is therefore filled with zeros before the error is thrown. Clients discard the rows of a failed
/// statement.
class TensorArrayStream final : public RowStream {
 public:
  /// Error{Unsupported}, before anything is written, for a row larger than kMostRowBytes. Throws the errors of
  /// TensorStrips::next().
  TensorArrayStream(TensorStrips strips, ResultFormat format, const std::vector<frontend::Format>& formats);

  bool at_end() const override { return at_end_; }
  bool write(MessageWriter& out) override;

 private:
  void begin_row(MessageWriter& out);
  void begin_value(std::string& out);
  bool write_value(std::string& out);
  void end_value(std::string& out);
  TilePtr next_strip();

  TensorStrips strips_;
  std::string shape_;
  std::vector<std::unique_ptr<TensorValue>> values_;
  std::vector<std::int64_t> sizes_;  // sizes of values_ in bytes
  bool begun_ = false;
  bool at_end_ = false;
  std::exception_ptr failure_;

  std::size_t value_ = 0;  // number of the current or next value
  bool in_value_ = false;
  std::int64_t elements_left_ = 0;  // not in strip_
  std::int64_t bytes_left_ = 0;     // left of the value
  TilePtr strip_;                   // null: read the next one
  std::int64_t element_ = 0;        // next element of strip_
};

}  // namespace eindb
