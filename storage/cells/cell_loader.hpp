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
  std::int64_t memory = std::int64_t{1} << 30U;  ///< limit in bytes
  std::string spill_directory;                   ///< for data beyond the limit
  std::int64_t base = 0;                         ///< first index of keys in messages
  /// Asserts that no key occurs twice, so that zeros need not be remembered.
  bool distinct_keys = false;
  /// About how many cells there will be, given how many there were; 0: not known. Empty: it is never known.
  std::function<std::int64_t(std::int64_t cells)> expected_cells = {};
  std::string remedy_for_duplicates = "each cell has one value";
  /// Describes the origin of a cell in messages, given its line: "x.csv, line 7".
  std::function<std::string(std::int64_t line)> place = {};
};

/// Fills an all-zero tensor with cells in any order, inside the caller's SqliteTransaction. Cells that are not given
/// stay zero. Memory is bounded for any number of cells. The first some thousand cells decide how:
///
/// - If tiles have many cells, these go directly into their tiles as long as they are near each other: a cache of open
///   tiles writes out the least recently used tile, and reads it again if necessary. This suits lists that are roughly
///   sorted in some order, and tensors that fit in memory; each tile is written about once.
/// - If tiles have few cells, or evicted tiles are needed again too often, the cells are sorted by position
///   (storage/cells/cell_locator.hpp), in a spill file if memory is short, and then fill one tile after the other,
///   which is encoded from the list of its cells.
///
/// A key must not occur twice. A non-zero cell in a tile shows that its key was given. A cell given as zero leaves no
/// trace, so it is sorted, where duplicates are neighbours. Uses the connection, on its thread; must be destroyed
/// before the commit.
class CellLoader {
 public:
  /// Error{MemoryLimit} if a tile takes more than a quarter of the memory. `cancellation` must outlive the loader.
  CellLoader(SqliteConnection& connection, const TileStore& store, const Cancellation& cancellation,
             CellLoaderOptions options);
  ~CellLoader();

  /// Errors name the cell's origin: Error{Value} for a key outside the tensor, a key given twice, or a value that the
  /// tensor's type cannot hold. The key must have one index per dimension.
  void add(const KeyedCell& cell);
  /// Writes the remaining cells. Duplicate keys may be detected only here.
  void finish();

  /// Statistics for tests.
  struct Statistics {
    std::int64_t tiles_opened = 0;  ///< and written, as dense tiles in memory
    std::int64_t tiles_listed = 0;  ///< written as lists of cells
    std::int64_t tiles_reloaded = 0;
    bool sorted = false;   ///< cells were sorted
    bool spilled = false;  ///< sorted cells went through a file
  };
  Statistics statistics() const;

 private:
  class Base;
  template <class T>
  class Loader;
  std::unique_ptr<Base> loader_;
};

}  // namespace eindb
