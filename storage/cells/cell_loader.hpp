#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/cancellation.hpp"
#include "storage/cells/cell.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/tile_store.hpp"

namespace eindb {

struct CellLoaderOptions {
  std::int64_t memory = std::int64_t{1} << 30U;  ///< bytes that it may take
  std::string spill_directory;                   ///< for what does not fit
  std::int64_t base = 0;                         ///< of keys in messages
  /// No key is given twice, so that zeros need not be remembered.
  bool distinct_keys = false;
  /// What messages call the place of a cell, by its line: "x.csv, line 7".
  std::function<std::string(std::int64_t line)> place;
};

/// Fills a tensor that is all zero with cells in any order, inside the caller's SqliteTransaction. Cells that are not
/// given stay zero. Memory is bounded however many cells there are:
///
/// - Cells go straight into their tiles as long as these are near each other: a cache of open tiles writes out the one
///   that has not been used for longest, and reads it again if it must. That is the way of lists that are sorted in
///   about any manner, and of tensors that fit memory; each tile is written about once.
/// - When tiles that are gone come back too often, the rest is sorted by position (storage/cells/cell_locator.hpp), in
/// a
///   spill file where memory is short, and then goes into one tile after the other.
///
/// A key must not be given twice. A cell of a tile that is not zero shows that it was given; a cell that is given as
/// zero shows nothing, so it goes the second way, which sees neighbours in the sorted order.
/// Uses the connection, whose thread calls it; must be gone before the commit.
class CellLoader {
 public:
  /// Error{MemoryLimit} if a tile takes more than a quarter of the memory.
  /// `cancellation` outlives the loader.
  CellLoader(SqliteConnection& connection, const TileStore& store, const Cancellation& cancellation,
             CellLoaderOptions options);
  ~CellLoader();

  /// Errors name the cell's place: Value for a key outside the tensor or given twice, and for a value that the tensor's
  /// type cannot hold. The key has one index per dimension.
  void add(const KeyedCell& cell);
  /// Writes what is left. Keys given twice may show only here.
  void finish();

  /// What was done, for tests.
  struct Statistics {
    std::int64_t tiles_written = 0;
    std::int64_t tiles_reloaded = 0;
    bool sorted = false;   ///< cells went the second way
    bool spilled = false;  ///< through a file
  };
  Statistics statistics() const;

 private:
  class Base;
  template <class T>
  class Loader;
  std::unique_ptr<Base> loader_;
};

}  // namespace eindb
