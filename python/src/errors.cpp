#include "python/src/errors.hpp"

#include <new>
#include <stdexcept>

namespace eindb_python {
namespace {

namespace py = pybind11;

}  // namespace

void set_error(const eindb::Exception& error) {
  try {
    const auto make = py::module_::import("eindb.errors").attr("from_engine");
    const auto made = make(std::string(to_string(error.code())), error.what(), error.message(), error.hint(),
                           error.line(), error.column());
    PyErr_SetObject(py::type::handle_of(made).ptr(), made.ptr());
  } catch (py::error_already_set& failed) {
    failed.restore();
  }
}

void set_error_of_exception() noexcept {
  try {
    throw;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const eindb::Exception& error) {
    set_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::invalid_argument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void define_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const eindb::Exception& failed) {
      set_error(failed);
    }
  });
}

}  // namespace eindb_python
