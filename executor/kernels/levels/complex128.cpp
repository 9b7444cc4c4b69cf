#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/move.hpp"
#include "executor/kernels/levels/pack.hpp"
#include "executor/kernels/levels/reduce.hpp"

namespace eindb::EINDB_LEVEL {

ElementTable complex128_table() {
  using T = std::complex<double>;
  ElementTable table{};
  fill_common<T>(table);
  fill_ordered<T>(table);
  fill_floating<T>(table);
  fill_aggregates<T>(table);
  fill_moves<T>(table);
  table.panels = panel_table<T>();
  return table;
}

}  // namespace eindb::EINDB_LEVEL
