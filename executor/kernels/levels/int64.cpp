#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/move.hpp"
#include "executor/kernels/levels/pack.hpp"
#include "executor/kernels/levels/reduce.hpp"
#include "executor/kernels/levels/search.hpp"
#include "executor/kernels/levels/vector_kernel.hpp"

namespace eindb::EINDB_LEVEL {

ElementTable int64_table() {
  using T = std::int64_t;
  ElementTable table{};
  fill_common<T>(table);
  fill_ordered<T>(table);
  fill_aggregates<T>(table);
  fill_moves<T>(table);
  fill_search<T>(table);
  table.panels = panel_table<T>();
  table.vectors = vector_table<T>();
  fill_pairs_int64(table);
  return table;
}

}  // namespace eindb::EINDB_LEVEL
