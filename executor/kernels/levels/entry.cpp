#include "executor/kernels/levels/cell_loops.hpp"
#include "executor/kernels/levels/element_tables.hpp"

extern "C" const eindb::LevelTable* EINDB_LEVEL_ENTRY();

namespace eindb::EINDB_LEVEL {

template <class T>
ElementTable with_cell_loops(ElementTable table) {
  table.cells = cell_table<T>();
  return table;
}

}  // namespace eindb::EINDB_LEVEL

// The only symbol of this level that the rest of the program uses.
extern "C" const eindb::LevelTable* EINDB_LEVEL_ENTRY() {
  namespace level = eindb::EINDB_LEVEL;
  static const eindb::LevelTable table{
      .elements = {level::with_cell_loops<float>(level::float32_table()),
                   level::with_cell_loops<double>(level::float64_table()),
                   level::with_cell_loops<std::complex<float>>(level::complex64_table()),
                   level::with_cell_loops<std::complex<double>>(level::complex128_table()),
                   level::with_cell_loops<std::int64_t>(level::int64_table())},
      .byte_pairs = level::byte_pairs(),
      .byte_quads = level::byte_quads(),
      .factors = level::factor_table(),
      .streams = level::stream_table(),
      .real_matrix_function = level::real_matrix_function()};
  return &table;
}
