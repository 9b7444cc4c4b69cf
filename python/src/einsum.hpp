#pragma once

#include <pybind11/pybind11.h>

namespace eindb_python {

/// Adds `einsum` to the module.
void define_einsum(pybind11::module_& module);

}  // namespace eindb_python
