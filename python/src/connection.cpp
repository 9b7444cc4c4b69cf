#include "python/src/connection.hpp"

#include <pybind11/complex.h>
#include <pybind11/stl.h>

#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/src/arrays.hpp"
#include "python/src/arrow.hpp"
#include "python/src/plan_pool.hpp"
#include "python/src/signals.hpp"

namespace eindb_python {
namespace {

py::object python_value(const eindb::Value& value) {
  return std::visit(
      [](const auto& held) -> py::object {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) return py::none();
        else if constexpr (std::is_same_v<Held, std::vector<std::byte>>)
          return py::bytes(reinterpret_cast<const char*>(held.data()), held.size());
        else return py::cast(held);
      },
      value);
}

// An array of `count` elements on the memory of the list.
template <class T>
py::array array_of(const py::dtype& dtype, std::int64_t count, std::vector<T> list) {
  auto kept = std::make_unique<std::vector<T>>(std::move(list));
  const auto* data = kept->data();
  const py::capsule owner(kept.get(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  static_cast<void>(kept.release());
  return {dtype, {static_cast<py::ssize_t>(count)}, {dtype.itemsize()}, data, owner};
}

// The result of one statement. Used by one thread at a time.
class PythonResult {
 public:
  PythonResult(eindb::QueryResult result, py::object kept) : result_(std::move(result)), kept_(std::move(kept)) {}

  const eindb::QueryResult& result() const { return result_; }

  // All cells of a tensor, or the rows that are left, as a capsule with a stream of Arrow. `lock` is held whenever rows
  // are read from the database.
  py::object arrow_stream(std::int64_t rows_per_batch, py::object lock) {
    ArrowArrayStream stream{};
    {
      const py::gil_scoped_release release;
      if (result_.is_tensor()) result_.tensor().to_arrow(stream, rows_per_batch);
      else std::move(result_).to_arrow(stream, rows_per_batch);
    }
    if (result_.is_tensor()) return stream_capsule(stream);
    return guarded_stream_capsule(stream, std::move(lock), kept_);
  }

  // The type of the rows of a tensor's cells.
  py::object arrow_schema() const {
    ArrowArrayStream stream{};
    ArrowSchema schema{};
    result_.tensor().to_arrow(stream, 1);
    const auto code = stream.get_schema(&stream, &schema);
    stream.release(&stream);
    if (code != 0) throw std::bad_alloc();
    return schema_capsule(schema);
  }

  // The tensor as (schema, array) of the extension arrow.fixed_shape_tensor.
  py::tuple arrow_tensor() const {
    ArrowSchema schema{};
    ArrowArray array{};
    {
      const py::gil_scoped_release release;
      result_.tensor().to_arrow(schema, array);
    }
    return array_capsules(schema, array);
  }

  // Up to `count` of the next rows.
  py::list fetch(std::size_t count) {
    const auto batch = read(count);
    py::list rows;
    for (const auto& values : batch) {
      py::tuple row(values.size());
      for (std::size_t n = 0; n < values.size(); ++n) row[n] = python_value(values[n]);
      rows.append(std::move(row));
    }
    return rows;
  }

  // The tensor on the result's own memory, where it has some that nobody else reads: the result is not to be read
  // again.
  py::array take_array() const {
    bool owns = false;
    const auto tensor = [&] {
      const py::gil_scoped_release release;
      auto found = result_.tensor();
      owns = found.owns_data();
      return found;
    }();
    if (!owns) return array();
    std::vector<py::ssize_t> strides(tensor.extents().size());
    auto stride = static_cast<py::ssize_t>(size_of(tensor.type()));
    for (std::size_t d = strides.size(); d-- > 0; stride *= tensor.extents()[d]) strides[d] = stride;
    return array_on(tensor, {tensor.extents().begin(), tensor.extents().end()}, strides);
  }

  // The cells that are not zero: their values, a list of their indices for each dimension, and the extents.
  py::tuple cells() const {
    const auto tensor = result_.tensor();
    auto cells = [&] {
      const py::gil_scoped_release release;
      return tensor.cells();
    }();
    py::tuple indices(cells.indices.size());
    for (std::size_t d = 0; d < cells.indices.size(); ++d)
      indices[d] = array_of(py::dtype::of<std::int64_t>(), cells.count, std::move(cells.indices[d]));
    return py::make_tuple(array_of(dtype_of(tensor.type()), cells.count, std::move(cells.values)), indices,
                          py::tuple(py::cast(tensor.extents())));
  }

  py::array array() const {
    const auto tensor = [&] {
      const py::gil_scoped_release release;
      return result_.tensor();
    }();
    // A copy: what a query reads from a stored tensor, later queries read, too.
    py::array made(dtype_of(tensor.type()), tensor.extents());
    auto* target = made.mutable_data();
    const py::gil_scoped_release release;
    switch (tensor.type()) {
      case eindb::ElementType::Float32: tensor.copy_to(static_cast<float*>(target)); break;
      case eindb::ElementType::Float64: tensor.copy_to(static_cast<double*>(target)); break;
      case eindb::ElementType::Complex64: tensor.copy_to(static_cast<std::complex<float>*>(target)); break;
      case eindb::ElementType::Complex128: tensor.copy_to(static_cast<std::complex<double>*>(target)); break;
      case eindb::ElementType::Int64: tensor.copy_to(static_cast<std::int64_t*>(target)); break;
    }
    return made;
  }

 private:
  std::vector<std::vector<eindb::Value>> read(std::size_t count) {
    const py::gil_scoped_release release;
    std::vector<std::vector<eindb::Value>> rows;
    while (rows.size() < count && result_.next()) {
      auto& values = rows.emplace_back();
      const auto row = result_.row();
      for (std::size_t n = 0; n < row.size(); ++n) values.push_back(row.value(n));
    }
    return rows;
  }

  eindb::QueryResult result_;
  py::object kept_;  // arrays that rows of SQL may read
};

// The bytes of an object with a buffer, such as bytes, bytearray and memoryview, in row-major order.
std::vector<std::byte> bytes_of(py::handle value) {
  Py_buffer buffer{};
  if (PyObject_GetBuffer(value.ptr(), &buffer, PyBUF_FULL_RO) != 0) throw py::error_already_set();
  std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.len));
  const auto status = PyBuffer_ToContiguous(bytes.data(), &buffer, buffer.len, 'C');
  PyBuffer_Release(&buffer);
  if (status != 0) throw py::error_already_set();
  return bytes;
}

void bind_value(eindb::Statement& statement, std::size_t number, py::handle value) {
  if (value.is_none()) {
    statement.bind(number, nullptr);
  } else if (PyUnicode_Check(value.ptr()) != 0) {
    statement.bind(number, std::string_view(value.cast<std::string>()));
  } else if (PyBytes_Check(value.ptr()) != 0 || PyByteArray_Check(value.ptr()) != 0 ||
             PyMemoryView_Check(value.ptr()) != 0) {
    statement.bind(number, bytes_of(value));
  } else if (PyIndex_Check(value.ptr()) != 0) {  // bool and NumPy's integers, too
    int overflow = 0;
    const auto whole = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0) {
      PyErr_SetString(PyExc_OverflowError,
                      ("parameter " + std::to_string(number) + " is an integer of more than 64 bits").c_str());
      throw py::error_already_set();
    }
    if (whole == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    statement.bind(number, static_cast<std::int64_t>(whole));
  } else if (PyComplex_Check(value.ptr()) != 0) {
    statement.bind(number, value.cast<std::complex<double>>());
  } else if (PyNumber_Check(value.ptr()) != 0 && PySequence_Check(value.ptr()) == 0) {
    statement.bind(number, py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>());
  } else {
    throw py::type_error("parameter " + std::to_string(number) + " is of type " +
                         py::type::of(value).attr("__name__").cast<std::string>() +
                         ": parameters are numbers, text, bytes and None");
  }
}

// The array as the API describes it.
eindb::TensorView view_of(const py::array& array) {
  const auto type = element_type_of(array.dtype());
  if (!type) throw py::type_error("an array of this dtype cannot be bound");
  eindb::TensorView view{*type, array.data(), {}, {}, {}};
  for (py::ssize_t d = 0; d < array.ndim(); ++d) {
    const auto stride = array.shape(d) > 1 ? array.strides(d) : 0;
    if (stride % array.itemsize() != 0) throw py::value_error("the strides of an array are not those of its elements");
    view.extents.push_back(array.shape(d));
    view.strides.push_back(stride / array.itemsize());
  }
  return view;
}

// The arrays of a tensor of cells as the API describes it: (values, indices by dimension, extents).
eindb::CellsView cells_by_indices(const py::tuple& cells) {
  const auto values = cells[0].cast<py::array>();
  const auto indices = cells[1].cast<py::array>();
  const auto type = element_type_of(values.dtype());
  if (!type) throw py::type_error("a sparse tensor of this dtype cannot be bound");
  eindb::CellsView view;
  view.type = *type;
  view.values = values.data();
  view.count = values.size();
  view.extents = cells[2].cast<std::vector<std::int64_t>>();
  view.has_wide_indices = true;
  if (values.ndim() != 1 || indices.ndim() != 2 || (indices.flags() & py::array::c_style) == 0 ||
      !same(indices.dtype(), py::dtype::of<std::int64_t>()) ||
      indices.shape(0) != static_cast<py::ssize_t>(view.extents.size()) || indices.shape(1) != values.size())
    throw py::value_error("the arrays of a sparse tensor do not belong together");
  const auto* first = static_cast<const std::int64_t*>(indices.data());
  for (py::ssize_t d = 0; d < indices.shape(0); ++d) view.indices.push_back(first + d * indices.shape(1));
  return view;
}

// The arrays of a CSR matrix: (values, begins of rows, columns, rows and columns).
eindb::CellsView cells_of(const py::tuple& cells) {
  if (cells.size() == 3) return cells_by_indices(cells);
  const auto values = cells[0].cast<py::array>();
  const auto begins = cells[1].cast<py::array>();
  const auto columns = cells[2].cast<py::array>();
  const auto [rows, column_count] = cells[3].cast<std::pair<std::int64_t, std::int64_t>>();
  const auto type = element_type_of(values.dtype());
  if (!type) throw py::type_error("a sparse matrix of this dtype cannot be bound");
  eindb::CellsView view;
  const bool is_wide = begins.itemsize() == 8;
  if (begins.itemsize() != columns.itemsize() || (!is_wide && begins.itemsize() != 4) || begins.size() != rows + 1 ||
      values.size() != columns.size())
    throw py::value_error("the arrays of a sparse matrix do not belong together");
  view.type = *type;
  view.values = values.data();
  view.count = values.size();
  view.extents = {rows, column_count};
  view.has_wide_indices = is_wide;
  view.indices = {columns.data()};
  view.begins = begins.data();
  return view;
}

void bind_tensor(eindb::Statement& statement, const std::string& name, const py::handle& tensor) {
  if (py::isinstance<py::tuple>(tensor)) statement.bind(name, cells_of(tensor.cast<py::tuple>()));
  else statement.bind(name, view_of(tensor.cast<py::array>()));
}

// How far the statement is that a connection runs. Any thread may ask.
class LastProgress {
 public:
  class EndOfStatement {
   public:
    explicit EndOfStatement(LastProgress& progress) : progress_(progress) {}
    ~EndOfStatement() { progress_.clear(); }
    EndOfStatement(const EndOfStatement&) = delete;
    EndOfStatement& operator=(const EndOfStatement&) = delete;

   private:
    LastProgress& progress_;
  };

  void set(const eindb::ProgressInfo& progress) {
    const std::lock_guard lock(mutex_);
    last_ = {std::string(progress.stage), progress.done, progress.total};
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    last_.reset();
  }
  // (stage, done, total), or None.
  py::object get() const {
    std::unique_lock lock(mutex_);
    const auto last = last_;
    lock.unlock();  // what Python does to make objects is not to wait for it
    return py::cast(last);
  }

 private:
  mutable std::mutex mutex_;  // guards last_
  std::optional<std::tuple<std::string, std::int64_t, std::int64_t>> last_;
};

class PythonConnection {
 public:
  PythonConnection(const std::string& path, bool read_only) : connection_(opened(path, read_only)) {
    watch_interrupts(connection_, [this](const eindb::ProgressInfo& progress) { progress_.set(progress); });
  }

  std::unique_ptr<PythonResult> execute(const std::string& text, const py::sequence& parameters,
                                        const py::dict& tensors) {
    if (parameters.size() == 0 && tensors.empty()) return run([&] { return connection_.execute(text); }, py::none());
    auto statement = connection_.prepare(text);
    if (statement.parameter_count() != parameters.size())
      throw py::value_error("the statement has " + std::to_string(statement.parameter_count()) +
                            " parameters, but there are " + std::to_string(parameters.size()) + " values");
    for (std::size_t n = 0; n < parameters.size(); ++n) bind_value(statement, n + 1, parameters[n]);
    for (const auto& [name, tensor] : tensors) bind_tensor(statement, name.cast<std::string>(), tensor);
    return run([&] { return statement.execute(); }, py::dict(tensors));
  }

  std::int64_t load(const std::string& name, PythonArrow& rows) {
    auto input = rows.take();
    std::int64_t count = 0;
    const py::gil_scoped_release release;
    const LastProgress::EndOfStatement end(progress_);
    run_interruptibly(connection_, [&] { count = connection_.load(name, std::move(input)); });
    return count;
  }

  std::unique_ptr<PythonResult> execute_script(const std::string& text) {
    return run([&] { return connection_.execute_script(text); }, py::none());
  }

  void cancel() noexcept { connection_.cancel(); }
  py::object progress() const { return progress_.get(); }
  bool in_transaction() const { return connection_.in_transaction(); }
  std::vector<std::string> tensor_names() { return connection_.tensor_names(); }

 private:
  static eindb::Connection opened(const std::string& path, bool read_only) {
    const py::gil_scoped_release release;
    return eindb::Connection(path, {.read_only = read_only});
  }

  template <class F>
  std::unique_ptr<PythonResult> run(const F& execute, py::object kept) {
    std::optional<eindb::QueryResult> result;
    {
      const py::gil_scoped_release release;
      const LastProgress::EndOfStatement end(progress_);
      run_interruptibly(connection_, [&] { result.emplace(execute()); });
    }
    return std::make_unique<PythonResult>(*std::move(result), std::move(kept));
  }

  LastProgress progress_;
  eindb::Connection connection_;
};

}  // namespace

void define_connection(py::module_& module) {
  py::class_<PythonResult>(module, "Result")
      .def_property_readonly("status", [](const PythonResult& r) { return r.result().status(); })
      .def_property_readonly("columns", [](const PythonResult& r) { return r.result().columns(); })
      .def_property_readonly("rows_changed", [](const PythonResult& r) { return r.result().rows_changed(); })
      .def_property_readonly("is_tensor", [](const PythonResult& r) { return r.result().is_tensor(); })
      .def_property_readonly("name", [](const PythonResult& r) { return r.result().tensor().name(); })
      .def_property_readonly("labels", [](const PythonResult& r) { return r.result().tensor().labels(); })
      .def("fetch", &PythonResult::fetch)
      .def("array", &PythonResult::array)
      .def("take_array", &PythonResult::take_array)
      .def("cells", &PythonResult::cells)
      .def("arrow_stream", &PythonResult::arrow_stream)
      .def("arrow_schema", &PythonResult::arrow_schema)
      .def("arrow_tensor", &PythonResult::arrow_tensor);
  py::class_<PythonConnection>(module, "Connection")
      .def(py::init<const std::string&, bool>())
      .def("execute", &PythonConnection::execute)
      .def("execute_script", &PythonConnection::execute_script)
      .def("load", &PythonConnection::load)
      .def("cancel", &PythonConnection::cancel)
      .def_property_readonly("progress", &PythonConnection::progress)
      .def_property_readonly("in_transaction", &PythonConnection::in_transaction)
      .def("tensor_names", &PythonConnection::tensor_names);
}

}  // namespace eindb_python
