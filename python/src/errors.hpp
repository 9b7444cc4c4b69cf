#pragma once

#include <pybind11/pybind11.h>

#include <eindb/eindb.hpp>

namespace eindb_python {

/// Sets Python's error for one of eindb: the class of eindb.errors that its kind has.
void set_error(const eindb::Exception& error);

/// Call in a catch clause: sets Python's error for the exception that is being handled.
void set_error_of_exception() noexcept;

void define_errors(pybind11::module_& module);

}  // namespace eindb_python
