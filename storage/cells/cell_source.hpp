#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/cells/cell.hpp"
#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// A list of cells in any order, from a file or a query. It only converts text to numbers; the consumer checks that
/// keys lie in the tensor and occur once (storage/cells/cell_loader.hpp). Not thread-safe.
class CellSource {
 public:
  virtual ~CellSource() = default;

  /// The type that holds all values and the shape that holds all keys, or the requested ones.
  virtual DType dtype() const = 0;
  /// That of a tensor which keeps the file's elements, whose values have the type dtype().
  virtual StoredType type() const { return dtype(); }
  virtual const Shape& shape() const = 0;
  /// Names of the key's columns, if the file has them.
  virtual std::vector<std::string> labels() const { return {}; }
  /// The first index as the user writes it; the keys returned by next() count from 0.
  virtual std::int64_t base() const { return 0; }
  /// Whether no key can occur twice.
  virtual bool has_distinct_keys() const { return false; }
  /// The advice to a user whose file has a key twice.
  virtual std::string remedy_for_duplicates() const { return "each cell has one value"; }

  /// Reads the next cell, reusing its vectors; false after the last. Error{Corrupt} with the place of a malformed cell.
  virtual bool next(KeyedCell& cell) = 0;
  /// "x.csv, line 7".
  virtual std::string place(std::int64_t line) const = 0;
  /// Progress and total; both 0 if unknown.
  virtual std::int64_t done() const { return 0; }
  virtual std::int64_t total() const { return 0; }
  /// About how many cells come at most; 0 if unknown.
  virtual std::int64_t most_cells() const { return 0; }
};

}  // namespace eindb
