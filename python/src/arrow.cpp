#include "python/src/arrow.hpp"

#include <pybind11/stl.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/src/arrays.hpp"

namespace eindb_python {
namespace {

constexpr const char* kStream = "arrow_array_stream";
constexpr const char* kSchema = "arrow_schema";
constexpr const char* kArray = "arrow_array";

template <class T>
void destroy_capsule(PyObject* capsule, const char* name) noexcept {
  auto* held = static_cast<T*>(PyCapsule_GetPointer(capsule, name));
  if (held == nullptr) {
    PyErr_Clear();
    return;
  }
  if (held->release != nullptr) held->release(held);
  delete held;
}

template <class T>
py::object capsule_of(T& source, const char* name, PyCapsule_Destructor destroy) {
  auto held = std::make_unique<T>(std::exchange(source, T{}));
  auto* made = PyCapsule_New(held.get(), name, destroy);
  if (made == nullptr) {
    held->release(held.get());
    throw py::error_already_set();
  }
  held.release();
  return py::reinterpret_steal<py::object>(made);
}

template <class T>
T& held_by(const py::object& capsule, const char* name) {
  if (PyCapsule_IsValid(capsule.ptr(), name) == 0)
    throw py::type_error(std::string("an object's method gives no capsule named ") + name);
  return *static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
}

// ---- Streams that read from a database -----------------------------------------------------------------------------

// Consumers call without the interpreter's lock, from whatever thread.
struct GuardedStream {
  ArrowArrayStream inner{};
  py::object lock;  // of the connection
  py::object kept;
  std::string error;
};

template <class F>
int locked(ArrowArrayStream* stream, const F& call) noexcept {
  auto& held = *static_cast<GuardedStream*>(stream->private_data);
  const py::gil_scoped_acquire gil;
  try {
    held.error.clear();
    held.lock.attr("acquire")();
    int code = 0;
    {
      const py::gil_scoped_release release;
      code = call(held.inner);
    }
    held.lock.attr("release")();
    return code;
  } catch (const py::error_already_set& error) {
    held.error = error.what();
  } catch (const std::exception& error) {
    held.error = error.what();
  }
  return EIO;
}

int guarded_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return locked(stream, [&](ArrowArrayStream& inner) { return inner.get_schema(&inner, out); });
}
int guarded_next(ArrowArrayStream* stream, ArrowArray* out) {
  return locked(stream, [&](ArrowArrayStream& inner) { return inner.get_next(&inner, out); });
}
const char* guarded_error(ArrowArrayStream* stream) {
  auto& held = *static_cast<GuardedStream*>(stream->private_data);
  return held.error.empty() ? held.inner.get_last_error(&held.inner) : held.error.c_str();
}
void release_guarded(ArrowArrayStream* stream) {
  auto* held = static_cast<GuardedStream*>(stream->private_data);
  stream->release = nullptr;
  const py::gil_scoped_acquire gil;
  held->inner.release(&held->inner);
  delete held;
}

// The array on the memory of what was handed over, or of a copy; read-only, as other libraries may read it, too.
py::array array_of(const eindb::ArrowTensor& tensor) {
  const auto& view = tensor.view();
  auto owner = std::make_unique<eindb::ArrowTensor>(tensor);
  const py::capsule keeper(owner.get(), [](void* held) { delete static_cast<eindb::ArrowTensor*>(held); });
  owner.release();
  py::array made(dtype_of(view.type), view.extents, view.data, keeper);
  made.attr("setflags")(py::arg("write") = false);
  return made;
}

}  // namespace

py::object stream_capsule(ArrowArrayStream& stream) {
  return capsule_of(stream, kStream, [](PyObject* capsule) { destroy_capsule<ArrowArrayStream>(capsule, kStream); });
}

py::object guarded_stream_capsule(ArrowArrayStream& stream, py::object lock, py::object kept) {
  auto held = std::make_unique<GuardedStream>();
  held->inner = std::exchange(stream, ArrowArrayStream{});
  held->lock = std::move(lock);
  held->kept = std::move(kept);
  ArrowArrayStream outer{.get_schema = guarded_schema,
                         .get_next = guarded_next,
                         .get_last_error = guarded_error,
                         .release = release_guarded,
                         .private_data = held.release()};
  return stream_capsule(outer);
}

py::object schema_capsule(ArrowSchema& schema) {
  return capsule_of(schema, kSchema, [](PyObject* capsule) { destroy_capsule<ArrowSchema>(capsule, kSchema); });
}

py::tuple array_capsules(ArrowSchema& schema, ArrowArray& array) {
  auto of_schema = schema_capsule(schema);
  auto of_array = capsule_of(array, kArray, [](PyObject* capsule) { destroy_capsule<ArrowArray>(capsule, kArray); });
  return py::make_tuple(std::move(of_schema), std::move(of_array));
}

PythonArrow PythonArrow::of_stream(const py::object& capsule) {
  auto& stream = held_by<ArrowArrayStream>(capsule, kStream);
  const py::gil_scoped_release release;
  return PythonArrow(eindb::ArrowInput(stream));
}

PythonArrow PythonArrow::of_array(const py::object& schema, const py::object& array) {
  auto& held_schema = held_by<ArrowSchema>(schema, kSchema);
  auto& held_array = held_by<ArrowArray>(array, kArray);
  return PythonArrow(eindb::ArrowInput(held_schema, held_array));
}

eindb::ArrowInput& PythonArrow::input() {
  if (!input_) throw py::value_error("what Arrow has handed over has been read already");
  return *input_;
}

eindb::ArrowInput PythonArrow::take() {
  auto taken = std::move(input());
  input_.reset();
  return taken;
}

void define_arrow(py::module_& module) {
  py::class_<PythonArrow>(module, "ArrowInput")
      .def_static("of_stream", &PythonArrow::of_stream)
      .def_static("of_array", &PythonArrow::of_array)
      .def_property_readonly("has_rows", [](PythonArrow& arrow) { return arrow.input().has_rows(); })
      .def_property_readonly("columns",
                             [](PythonArrow& arrow) {
                               std::vector<std::pair<std::string, std::string>> out;
                               for (const auto& column : arrow.input().column_infos())
                                 out.emplace_back(column.name, column.type);
                               return out;
                             })
      .def("array", [](PythonArrow& arrow) {
        auto input = arrow.take();
        const auto tensor = [&] {
          const py::gil_scoped_release release;
          return std::move(input).tensor();
        }();
        return array_of(tensor);
      });
}

}  // namespace eindb_python
