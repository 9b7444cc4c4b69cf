#include "executor/kernels/levels/element_tables.hpp"

extern "C" const eindb::LevelTable* EINDB_LEVEL_ENTRY();

// The only symbol of this level that the rest of the program uses.
extern "C" const eindb::LevelTable* EINDB_LEVEL_ENTRY() {
  namespace level = eindb::EINDB_LEVEL;
  static const eindb::LevelTable table{
      .elements = {level::float32_table(), level::float64_table(), level::complex64_table(), level::complex128_table(),
                   level::int64_table()},
      .real_matrix_function = level::real_matrix_function()};
  return &table;
}
