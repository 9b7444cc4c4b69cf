#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/pair.hpp"
#include "executor/kernels/levels/truth.hpp"

namespace eindb::EINDB_LEVEL {

void fill_pairs_float64(ElementTable& table) {
  fill_pairs<double>(table);
  fill_truths<double>(table);
}

}  // namespace eindb::EINDB_LEVEL
