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

/// A tensor as one row: its shape, and its elements as one value, or two. The row is written from strips of the tensor,
/// a portion at a time, so that it takes no memory of its own.
///
/// The length of a message stands before it. If the elements end early (a tile that cannot be read, a statement that is
/// cancelled) the row is therefore filled up with zeros, and then the error is thrown: clients drop the rows of a
/// statement that fails.
class TensorArrayStream final : public RowStream {
 public:
  /// Error{Unsupported}, and nothing is written, for a row beyond kMostRowBytes. Throws as TensorStrips::next().
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
  std::vector<std::int64_t> sizes_;  // of values_
  bool begun_ = false;
  bool at_end_ = false;
  std::exception_ptr failure_;

  std::size_t value_ = 0;  // that comes next, or is under way, with
  bool in_value_ = false;
  std::int64_t elements_left_ = 0;  // that are not in strip_
  std::int64_t bytes_left_ = 0;     // of the value
  TilePtr strip_;                   // null: the next is to be read
  std::int64_t element_ = 0;        // of strip_, that comes next
};

}  // namespace eindb
