#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/cells/cell.hpp"
#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"

namespace eindb {

/// A list of cells in any order, from a file or a query. What it gives is text turned into numbers: whether keys lie
/// in the tensor and occur once is for whoever takes them (storage/cells/cell_loader.hpp). Not thread-safe.
class CellSource {
 public:
  virtual ~CellSource() = default;

  /// The type that holds all values, and the shape that holds all keys, or those that were asked for.
  virtual DType dtype() const = 0;
  virtual const Shape& shape() const = 0;
  /// Names of the columns of the key, if the file has them.
  virtual std::vector<std::string> labels() const { return {}; }
  /// The number of the first index, in what the user wrote; keys that it gives count from 0.
  virtual std::int64_t base() const { return 0; }
  /// Whether no key can come twice.
  virtual bool has_distinct_keys() const { return false; }

  /// The next cell, whose vectors are used again; false after the last. Error{Corrupt} with the place of what is none.
  virtual bool next(KeyedCell& cell) = 0;
  /// "x.csv, line 7".
  virtual std::string place(std::int64_t line) const = 0;
  /// How far it is, and of how much; both 0 where nobody knows.
  virtual std::int64_t done() const { return 0; }
  virtual std::int64_t total() const { return 0; }
};

}  // namespace eindb
