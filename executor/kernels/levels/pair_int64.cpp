#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/pair.hpp"
#include "executor/kernels/levels/truth.hpp"

namespace eindb::EINDB_LEVEL {

void fill_pairs_int64(ElementTable& table) {
  fill_pairs<std::int64_t>(table);
  fill_truths<std::int64_t>(table);
}

}  // namespace eindb::EINDB_LEVEL
