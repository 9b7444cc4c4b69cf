#pragma once

#include <pybind11/pybind11.h>

namespace eindb_python {

/// Adds the classes Connection and Result to the module, which the package wraps.
void define_connection(pybind11::module_& module);

}  // namespace eindb_python
