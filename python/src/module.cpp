// The extension module eindb._eindb: einsum and connections over the C++ API. What needs no speed is in Python beside
// it.
#include <pybind11/pybind11.h>

#include "python/src/einsum.hpp"
#include "python/src/errors.hpp"

PYBIND11_MODULE(_eindb, module) {
  eindb_python::define_errors(module);
  eindb_python::define_einsum(module);
  module.attr("library_version") = eindb::library_version();
}
