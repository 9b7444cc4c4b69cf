#pragma once

#include <pybind11/pybind11.h>

#include <eindb/arrow.hpp>
#include <eindb/eindb.hpp>
#include <optional>

namespace eindb_python {

namespace py = pybind11;

/// Capsules as the PyCapsule interface of Arrow passes them: each owns a struct, and releases it if nobody has taken
/// it. All of these take over what they are given.
py::object stream_capsule(ArrowArrayStream& stream);
/// The same for a stream that reads from a database: `lock` is entered for each call, and `kept` lives as long.
py::object guarded_stream_capsule(ArrowArrayStream& stream, py::object lock, py::object kept);
py::object schema_capsule(ArrowSchema& schema);
py::tuple array_capsules(ArrowSchema& schema, ArrowArray& array);

/// Rows or an array that another library hands over.
class PythonArrow {
 public:
  /// Takes what is in the capsules: of a stream, or of a schema and an array. TypeError for other capsules.
  static PythonArrow of_stream(const py::object& capsule);
  static PythonArrow of_array(const py::object& schema, const py::object& array);

  eindb::ArrowInput& input();
  /// ValueError if it has been taken.
  eindb::ArrowInput take();

 private:
  explicit PythonArrow(eindb::ArrowInput input) : input_(std::move(input)) {}
  std::optional<eindb::ArrowInput> input_;
};

void define_arrow(py::module_& module);

}  // namespace eindb_python
