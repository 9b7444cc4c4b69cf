#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.hpp"
#include "catalog/tensor_tables.hpp"
#include "engine/tensors/memory_tensor.hpp"
#include "executor/tile_exchange.hpp"
#include "parser/ast.hpp"
#include "plan/ein_graph.hpp"
#include "storage/cells/tensor_table.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// A tensor in the caller's memory under the name that statements use, checked. Immutable, thread-safe.
///
/// It has no tiles of its own; it is cut when it is read. A tile that is contiguous and row-major in the caller's
/// memory is borrowed; any other is copied. The tensor's own grid, which a plan may replace, therefore cuts row-major
/// data along the first dimensions only:
///
///     4096 x 4096 FLOAT32 at 1 MiB: [64, 1], all tiles borrowed; transposed: [8, 8], copied one by one
///
/// Of a tensor of cells the tiles are made from those in their range, as cells or with all values. The only tile of a
/// grid has all cells where they lie, and is borrowed where they are views of the program's memory.
class AttachedTensor {
 public:
  /// Throws Error{Value} for a null or unaligned pointer or a wrong number of strides, Error{Shape} for extents that
  /// overflow, Error{Label} for wrong labels.
  AttachedTensor(std::string name, MemoryTensor tensor, std::int64_t tile_bytes);

  const std::string& name() const { return name_; }
  DType dtype() const { return tensor_.dtype; }
  const std::vector<std::string>& labels() const { return tensor_.labels; }
  const TileGrid& grid() const { return grid_; }
  InputTensor input() const;
  /// The tile with this number in any grid of the tensor's shape. It is a view of the program's memory where its values
  /// may lie as they do there, and a copy otherwise.
  TilePtr read(const TileGrid& grid, std::int64_t tile_id, ValueOrder order = ValueOrder::RowMajor) const;
  /// The same as a tile of cells. Only where is_of_cells().
  TilePtr read_cells(const TileGrid& grid, std::int64_t tile_id) const;
  bool is_of_cells() const { return tensor_.cells != nullptr; }
  /// The tiles of its own grid that have cells, ascending. Takes time by the cells.
  std::vector<std::int64_t> tiles_with_cells() const;
  /// Whether all tiles of the tensor's own grid can be borrowed.
  bool is_dense() const { return dense_; }

 private:
  bool is_dense_block(const std::vector<std::int64_t>& extents) const;
  bool may_lie_so(const std::vector<std::int64_t>& extents, ValueOrder order) const;

  std::string name_;
  MemoryTensor tensor_;
  TileGrid grid_;
  bool dense_ = false;
  TilePtr whole_;  // all cells of a tensor of cells that owns them
};

/// The tensors that a session's user attached, by name. Statements see them beside those of the catalog and cannot
/// change them. Used by one thread; find() also by several while nothing changes.
class AttachedTensors {
 public:
  AttachedTensors(SqliteConnection& connection, Catalog& catalog, TensorTables& tables)
      : connection_(connection), catalog_(catalog), tables_(tables) {}

  /// Error{DuplicateName} if a tensor, table or view has the name.
  void attach(const std::string& name, MemoryTensor tensor, std::int64_t tile_bytes);
  /// Puts a tensor in the place of the attached one of this name, which stays if the new one is refused.
  /// Error{UnknownName} if there is none. Open result rows of SQL go on with the earlier one.
  void replace(const std::string& name, MemoryTensor tensor, std::int64_t tile_bytes);
  /// Error{UnknownName} if no tensor of that name is attached. Open result rows of SQL can still be read.
  void detach(std::string_view name);

  /// Null if there is none. Names are ASCII case-insensitive.
  const AttachedTensor* find(std::string_view name) const;
  std::vector<std::string> names() const;
  bool empty() const { return entries_.empty(); }
  /// Changes whenever a tensor is attached or detached.
  std::uint64_t generation() const { return generation_; }

  /// Throws Error if the statement would create, change or drop a tensor of an attached name, or uses one where only a
  /// stored tensor is allowed.
  void check_targets(const ast::Statement& statement) const;

 private:
  struct Entry {
    std::shared_ptr<const AttachedTensor> tensor;
    VisibleTable table;  // for SQL
  };

  using Entries = std::map<std::string, Entry, std::less<>>;

  void check_free(const std::string& name);
  Entries::iterator attached(std::string_view name);
  void put(std::shared_ptr<const AttachedTensor> tensor);

  SqliteConnection& connection_;
  Catalog& catalog_;
  TensorTables& tables_;
  Entries entries_;  // by name in lower case
  std::uint64_t generation_ = 0;
};

/// Reads tiles of attached tensors, and all other tiles from a second source. Thread-safe if the second source is.
class AttachedTiles final : public TileSource {
 public:
  AttachedTiles(const AttachedTensors& attached, TileSource& stored) : attached_(attached), stored_(stored) {}
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override { return stored_.read(tensor, tile_id); }
  TilePtr read_attached(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                        ValueOrder order) override;
  TilePtr read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) override;
  std::optional<TilePtr> read_cut(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                                  const std::function<std::optional<Tile>()>& assemble) override {
    return stored_.read_cut(tensor, grid, tile_id, assemble);
  }
  bool keeps_tiles() const override { return stored_.keeps_tiles(); }
  void let_go(const std::string& tensor) noexcept override { stored_.let_go(tensor); }

 private:
  const AttachedTensors& attached_;
  TileSource& stored_;
};

}  // namespace eindb
