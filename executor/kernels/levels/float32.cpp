#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/gemm.hpp"
#include "executor/kernels/levels/move.hpp"
#include "executor/kernels/levels/reduce.hpp"

namespace eindb::EINDB_LEVEL {

ElementTable float32_table() {
  using T = float;
  ElementTable table{};
  fill_common<T>(table);
  fill_ordered<T>(table);
  fill_floating<T>(table);
  fill_aggregates<T>(table);
  fill_moves<T>(table);
  table.gemm = gemm<T>;
  return table;
}

}  // namespace eindb::EINDB_LEVEL
