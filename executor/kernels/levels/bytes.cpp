#include "executor/kernels/levels/byte_kernel.hpp"
#include "executor/kernels/levels/element_tables.hpp"

namespace eindb::EINDB_LEVEL {

ByteTable byte_pairs() { return byte_pair_table(); }
ByteTable byte_quads() { return byte_quad_table(); }

}  // namespace eindb::EINDB_LEVEL
