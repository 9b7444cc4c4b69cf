// The extension module eindb._eindb: einsum and connections over the C++ API. What needs no speed is in Python beside
// it.
#include <pybind11/pybind11.h>

#include "python/src/arrow.hpp"
#include "python/src/connection.hpp"
#include "python/src/einsum.hpp"
#include "python/src/errors.hpp"
#include "python/src/signals.hpp"

PYBIND11_MODULE(_eindb, module) {
  eindb_python::define_errors(module);
  eindb_python::define_einsum(module);
  eindb_python::define_arrow(module);
  eindb_python::define_connection(module);
  const auto main_thread = pybind11::module_::import("threading").attr("main_thread")();
  eindb_python::set_main_thread(main_thread.attr("ident").cast<unsigned long>());
  module.attr("library_version") = eindb::library_version();
}
