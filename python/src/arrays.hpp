#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <eindb/eindb.hpp>
#include <optional>
#include <vector>

#include "python/src/contraction.hpp"

namespace eindb_python {

namespace py = pybind11;

/// NumPy's functions and the package's own that calls need, looked up once.
struct Functions {
  py::object numpy_einsum, result_type, can_cast, copyto, dtype, as_array, is_tensor, to_tensor, path_clause, is_sparse,
      sparse_einsum;
};
const Functions& functions();

/// The element type of eindb that holds a dtype's values as they lie in memory; nullopt: there is none.
std::optional<eindb::ElementType> element_type_of(const py::dtype& dtype);
py::dtype dtype_of(eindb::ElementType type);
/// Whether two dtypes, one of which is a number's, are the same.
bool same(const py::dtype& a, const py::dtype& b);

/// How a result of some dtype is computed.
struct Computation {
  enum class Way : std::uint8_t {
    Direct,     ///< in the type itself
    Converted,  ///< in a type of eindb's that holds it, and converted at the end: float16, integers
    Unsigned,   ///< uint64 as INT64, which wraps alike
    Logical,    ///< bool as INT64: whether the sum of products is zero
    NumPy,      ///< not by eindb
  };
  Way way = Way::NumPy;
  eindb::ElementType type = eindb::ElementType::Float64;
};
Computation computation_of(const py::dtype& result);

/// The arrays as the computation reads them: those of types that eindb lacks, of the other byte order, and those that
/// are not aligned are converted by a copy, all others are used where they lie.
std::vector<py::array> prepared(const std::vector<py::array>& arrays, const py::dtype& result,
                                const Computation& computation);

/// Whether the engine can read the elements where they lie: they are aligned, and strides are those of elements.
bool is_readable(const py::array& array);

StridedArray strided(const py::array& array);

/// A writable array on the memory of a result, which nobody else has. `strides` in bytes.
py::array array_on(const eindb::TensorResult& result, const std::vector<py::ssize_t>& extents,
                   const std::vector<py::ssize_t>& strides);

/// Converts computed values to the dtype of the result.
py::array converted(py::array values, const py::dtype& result, const Computation& computation);

}  // namespace eindb_python
