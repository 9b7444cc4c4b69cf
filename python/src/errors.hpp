#pragma once

#include <pybind11/pybind11.h>

#include <eindb/eindb.hpp>

namespace eindb_python {

/// Sets Python's error for one of eindb: the class of eindb.errors that its kind has.
void set_error(const eindb::Exception& error);

/// Call in a catch clause: sets Python's error for the exception that is being handled.
void set_error_of_exception() noexcept;

void define_errors(pybind11::module_& module);

/// Polls Python's signals while statements of a connection run, on the thread that called: a handler that raises, as
/// that of Ctrl-C does, cancels the statement, and its error is raised in place of eindb's.
class SignalPoll {
 public:
  /// Sets the receiver of the connection's progress, once for all statements.
  static void watch(eindb::Connection& connection);
  /// Call with the GIL after a statement has failed: whether a handler had raised, whose error is set then.
  static bool take_error();
};

}  // namespace eindb_python
