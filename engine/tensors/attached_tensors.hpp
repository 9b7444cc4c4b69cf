#pragma once

#include <map>
#include <memory>
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

/// A tensor in somebody else's memory under the name that statements use, checked. Immutable, thread-safe.
///
/// It has no tiles of its own, and is cut when it is read. A tile that lies in the memory as a tile does, row-major
/// without gaps, is borrowed; of any other a copy is made. So its grid, which a plan may replace, cuts row-major data
/// along the first dimensions only:
///
///     4096 x 4096 FLOAT32 at 1 MiB: [64, 1], all tiles borrowed; transposed: [8, 8], copied one by one
class AttachedTensor {
 public:
  /// Throws Error: Value for a null or unaligned pointer or a wrong number of strides, Shape for what overflows, Label
  /// for labels that do not fit.
  AttachedTensor(std::string name, MemoryTensor tensor, std::int64_t tile_bytes);

  const std::string& name() const { return name_; }
  DType dtype() const { return tensor_.dtype; }
  const std::vector<std::string>& labels() const { return tensor_.labels; }
  const TileGrid& grid() const { return grid_; }
  InputTensor input() const;
  /// The tile of any grid of the tensor's shape.
  TilePtr read(const TileGrid& grid, std::int64_t tile_id) const;
  /// Whether all tiles of the tensor's own grid are borrowed.
  bool is_dense() const { return dense_; }

 private:
  bool is_dense_block(const std::vector<std::int64_t>& extents) const;

  std::string name_;
  MemoryTensor tensor_;
  TileGrid grid_;
  bool dense_ = false;
};

/// The tensors that a session's user attached, by name: statements see them beside those of the catalog, and cannot
/// change them. Threads: one; find() also from several while nothing changes.
class AttachedTensors {
 public:
  AttachedTensors(SqliteConnection& connection, Catalog& catalog, TensorTables& tables)
      : connection_(connection), catalog_(catalog), tables_(tables) {}

  /// Error{DuplicateName} if a tensor, table or view has the name.
  void attach(const std::string& name, MemoryTensor tensor, std::int64_t tile_bytes);
  /// Error{UnknownName} if nothing of that name is attached. Rows of SQL that are still to be read keep reading.
  void detach(std::string_view name);

  /// Null if there is none. Names match without regard to the case of ASCII letters.
  const AttachedTensor* find(std::string_view name) const;
  std::vector<std::string> names() const;
  bool empty() const { return entries_.empty(); }
  /// Another number whenever what is attached has changed.
  std::uint64_t generation() const { return generation_; }

  /// Throws Error if the statement would make, change or drop a tensor of an attached name, or wants of one what only
  /// stored tensors have.
  void check_targets(const ast::Statement& statement) const;

 private:
  struct Entry {
    std::shared_ptr<const AttachedTensor> tensor;
    VisibleTable table;  // for SQL
  };

  void check_free(const std::string& name);

  SqliteConnection& connection_;
  Catalog& catalog_;
  TensorTables& tables_;
  std::map<std::string, Entry, std::less<>> entries_;  // by name in lower case
  std::uint64_t generation_ = 0;
};

/// The tiles of attached tensors, and all others from a second source. Thread-safe as that.
class AttachedTiles final : public TileSource {
 public:
  AttachedTiles(const AttachedTensors& attached, TileSource& stored) : attached_(attached), stored_(stored) {}
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override { return stored_.read(tensor, tile_id); }
  TilePtr read_attached(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) override;
  bool keeps_tiles() const override { return stored_.keeps_tiles(); }
  void let_go(const std::string& tensor) noexcept override { stored_.let_go(tensor); }

 private:
  const AttachedTensors& attached_;
  TileSource& stored_;
};

}  // namespace eindb
