#include "python/src/errors.hpp"

#include <new>
#include <stdexcept>

namespace eindb_python {
namespace {

namespace py = pybind11;

// The error that a signal's handler raised on this thread; null: none.
thread_local PyObject* raised_type = nullptr;
thread_local PyObject* raised_value = nullptr;
thread_local PyObject* raised_traceback = nullptr;

void poll_signals(eindb::Connection& connection) {
  const py::gil_scoped_acquire gil;
  if (raised_type != nullptr || PyErr_CheckSignals() == 0) return;
  PyErr_Fetch(&raised_type, &raised_value, &raised_traceback);
  connection.cancel();
}

}  // namespace

void SignalPoll::watch(eindb::Connection& connection) {
  connection.on_progress([&connection](const eindb::ProgressInfo&) { poll_signals(connection); });
}

bool SignalPoll::take_error() {
  if (raised_type == nullptr) return false;
  PyErr_Restore(raised_type, raised_value, raised_traceback);
  raised_type = raised_value = raised_traceback = nullptr;
  return true;
}

void set_error(const eindb::Exception& error) {
  if (SignalPoll::take_error()) return;
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
