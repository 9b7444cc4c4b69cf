#include "executor/kernels/levels/element_tables.hpp"
#if defined(__AVX2__) && !defined(__AVX512F__)
#include "executor/kernels/matrix_algorithms.hpp"
#endif

namespace eindb::EINDB_LEVEL {

// At the level v3 alone: it takes half a minute to compile, and is not faster at v4.
RealMatrixFunction real_matrix_function() {
#if defined(__AVX2__) && !defined(__AVX512F__)
  return function_by_eigen<double>;
#else
  return nullptr;
#endif
}

}  // namespace eindb::EINDB_LEVEL
