#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/pair.hpp"
#include "executor/kernels/levels/truth.hpp"

namespace eindb::EINDB_LEVEL {

void fill_pairs_float32(ElementTable& table) {
  fill_pairs<float>(table);
  fill_truths<float>(table);
}

}  // namespace eindb::EINDB_LEVEL
