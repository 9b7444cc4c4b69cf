#pragma once

#include <pybind11/numpy.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "python/src/contraction.hpp"

namespace eindb_python {

namespace py = pybind11;

/// What calls of einsum have worked out from their subscripts and from the dtypes, extents and strides of their arrays,
/// for calls of the same. Only of those without keywords whose arrays are all of NumPy, of one dtype, and read where
/// they lie. Used with the GIL.
class KnownCalls {
 public:
  struct Call {
    Contraction contraction;           ///< the output's labels in the order of memory; without data
    std::vector<py::ssize_t> extents;  ///< of the result
    std::vector<py::ssize_t> strides;  ///< of the result, in bytes
  };

  /// Null where there was no such call, or where an array cannot be read as it lies now.
  std::shared_ptr<const Call> find(PyObject* const* arguments, std::size_t count);
  /// Keeps what the call of the last find() has worked out, which had these arguments.
  void keep(PyObject* const* arguments, std::size_t count, Call call);

 private:
  // Objects by their addresses, and numbers.
  using Signature = std::vector<std::uint64_t>;
  struct Entry {
    Signature signature;
    std::vector<py::object> objects;  // those of the signature, so that no others get their addresses
    std::shared_ptr<const Call> call;
  };

  bool sign(PyObject* const* arguments, std::size_t count);
  Entry& place();

  static constexpr std::size_t kPlaces = 256;
  std::array<Entry, kPlaces> entries_;
  Signature signature_;  // of the call at hand
};

/// Those of the process.
KnownCalls& known_calls();

}  // namespace eindb_python
