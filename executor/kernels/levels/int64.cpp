#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/move.hpp"
#include "executor/kernels/levels/reduce.hpp"

namespace eindb::EINDB_LEVEL {

ElementTable int64_table() {
  using T = std::int64_t;
  ElementTable table{};
  fill_common<T>(table);
  fill_ordered<T>(table);
  fill_aggregates<T>(table);
  fill_moves<T>(table);
  return table;
}

}  // namespace eindb::EINDB_LEVEL
