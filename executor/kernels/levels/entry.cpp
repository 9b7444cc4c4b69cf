#include "executor/kernels/levels/element_tables.hpp"

extern "C" const eindb::LevelTable* EINDB_LEVEL_ENTRY();

// The one symbol of this level that the rest of the program sees.
extern "C" const eindb::LevelTable* EINDB_LEVEL_ENTRY() {
  using namespace eindb::EINDB_LEVEL;
  static const eindb::LevelTable table{
      .elements = {float32_table(), float64_table(), complex64_table(), complex128_table(), int64_table()},
      .transpose4 = transpose4,
      .transpose8 = transpose8,
      .transpose16 = transpose16};
  return &table;
}
