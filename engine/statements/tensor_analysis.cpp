#include "engine/statements/tensor_analysis.hpp"

#include <algorithm>

#include "catalog/stored_tiles.hpp"
#include "engine/statements/moved_tiles.hpp"
#include "storage/cells/cell_tally.hpp"
#include "storage/tiles/stored_rows.hpp"

namespace eindb {
namespace {

// Tensors of a larger share of cells are read as dense ones (optimizer/cell_choice).
constexpr double kFewCells = 0.5;

// Of tiles at workers that were written before references told it nobody knows how many cells they have.
double most_cells(const TensorInfo& tensor, SqliteConnection& connection) {
  const auto summary = count_stored(connection, tensor);
  if (summary.stored_cells) return static_cast<double>(*summary.stored_cells);
  const auto largest = tensor.grid.tile_shape(tensor.grid.key_of(0)).element_count();
  return static_cast<double>(summary.stored_tiles) * static_cast<double>(largest);
}

}  // namespace

void analyze_tensor(const TensorInfo& tensor, SessionState& session) {
  auto& connection = session.database.connection();
  const auto& statement = session.statement;
  const auto store = tensor.store();
  const auto bytes = std::max<std::int64_t>(1, memory_for_moves(session.user.settings) / 2);
  CellTally tally(tensor.shape(), most_cells(tensor, connection), bytes);
  for (std::int64_t pass = 0; pass < tally.passes(); ++pass) {
    tally.begin(pass);
    StoredRows rows(connection, store);
    for (auto id = rows.seek(0); id; id = rows.seek(*id + 1)) {
      statement.cancellation().check();
      statement.report("statistics of " + tensor.name, *id, tensor.grid.tile_count());
      const auto key = tensor.grid.key_of(*id);
      const auto cells = rows.load_cells(tensor.dtype);
      tally.add(cells.numbers, tensor.grid.tile_shape(key), tensor.grid.tile_begin(key));
    }
    tally.end();
  }
  session.database.catalog.put_statistics(tensor, tally.cells(), tally.spread());
}

void analyze_written(const TensorInfo& tensor, SessionState& session, std::optional<double> written) {
  if (tensor.is_sharded() || session.database.unwritten.find(tensor) != nullptr) return;
  const auto stored = session.database.catalog.stored_cells(tensor);
  if (!stored || stored->cells > kFewCells * static_cast<double>(tensor.shape().element_count())) return;
  if (written.value_or(stored->cells) >= stored->cells / 2) analyze_tensor(tensor, session);
}

}  // namespace eindb
