#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "python/src/arrays.hpp"
#include "python/src/equation.hpp"

namespace eindb_python {

/// The arguments of a call of einsum: its keywords checked, its operands not yet looked at.
struct EinsumArguments {
  Equation equation;
  std::vector<py::handle> operands;
  std::optional<py::dtype> dtype;
  py::handle out;  ///< null: none
  Order order = Order::K;
  py::object casting;  ///< null: 'safe'
  std::string path;    ///< the clause USING PATH; may be empty
};

/// Reads them as the interpreter passes them: `names` has those of the arguments after the `count` positional ones.
/// Throws ValueError and TypeError where NumPy does.
EinsumArguments read_arguments(PyObject* const* arguments, std::size_t count, PyObject* names);

}  // namespace eindb_python
