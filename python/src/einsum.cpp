#include "python/src/einsum.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "python/src/arrays.hpp"
#include "python/src/einsum_arguments.hpp"
#include "python/src/errors.hpp"
#include "python/src/known_calls.hpp"
#include "python/src/plan_pool.hpp"
#include "python/src/signals.hpp"

namespace eindb_python {
namespace {

// A worker for as long as it is needed.
class WorkerLoan {
 public:
  WorkerLoan() : worker_(plan_pool().take()) {}
  ~WorkerLoan() { plan_pool().give_back(std::move(worker_)); }
  WorkerLoan(const WorkerLoan&) = delete;
  WorkerLoan& operator=(const WorkerLoan&) = delete;
  PlanWorker& operator*() const { return *worker_; }

 private:
  std::unique_ptr<PlanWorker> worker_;
};

// Whether it may take so long that somebody presses Ctrl-C: a nest of loops over all labels has many rounds.
bool is_long(const Contraction& contraction) {
  constexpr double kRounds = 1 << 26;
  double rounds = 1;
  for (const auto extent : contraction.extents) rounds *= static_cast<double>(extent);
  return rounds > kRounds;
}

eindb::TensorResult compute(const Contraction& contraction, std::span<const void* const> data) {
  const py::gil_scoped_release release;
  const WorkerLoan worker;
  if (!is_long(contraction)) return (*worker).run(contraction, data);
  std::optional<eindb::TensorResult> result;
  run_interruptibly((*worker).connection(), [&] { result = (*worker).run(contraction, data); });
  return *std::move(result);
}

std::vector<py::array> arrays_of(const EinsumArguments& call) {
  std::vector<py::array> arrays;
  for (const auto operand : call.operands) {
    if (py::isinstance<py::array>(operand)) arrays.push_back(py::reinterpret_borrow<py::array>(operand));
    else arrays.push_back(functions().as_array(operand).cast<py::array>());
  }
  return arrays;
}

void check_cast(py::handle from, const py::dtype& to, const EinsumArguments& call, const std::string& what) {
  const auto rule = call.casting ? call.casting : py::str("safe");
  if (functions().can_cast(from, to, rule).cast<bool>()) return;
  const auto dtype = py::hasattr(from, "dtype") ? from.attr("dtype") : py::reinterpret_borrow<py::object>(from);
  throw py::type_error(what + " cannot be cast from " + py::repr(dtype).cast<std::string>() + " to " +
                       py::repr(to).cast<std::string>() + " according to the rule '" + rule.cast<std::string>() + "'");
}

bool all_of_dtype(const std::vector<py::array>& arrays, const py::dtype& dtype) {
  return std::all_of(arrays.begin(), arrays.end(), [&](const auto& array) { return same(array.dtype(), dtype); });
}

// The argument of numpy.result_type for an operand: the array itself if it has no dimensions, as NumPy then looks at
// the value, and otherwise its dtype.
py::object for_promotion(const py::array& array) {
  if (array.ndim() == 0) return array;
  return array.dtype();
}

// The dtype in which the result is computed: the one asked for, or that to which NumPy promotes operands and `out`.
py::dtype result_dtype(const EinsumArguments& call, const std::vector<py::array>& arrays, const py::object& out) {
  const auto first = arrays.front().dtype();
  auto result = call.dtype.value_or(first);
  const bool alike = all_of_dtype(arrays, result) && (!out || same(out.attr("dtype").cast<py::dtype>(), result));
  if (!alike && !call.dtype) {
    py::list all;
    for (const auto& array : arrays) all.append(for_promotion(array));
    if (out) all.append(for_promotion(out));
    result = functions().result_type(*all).cast<py::dtype>();
  }
  if (result.byteorder() == '>') result = result.attr("newbyteorder")("=").cast<py::dtype>();
  if (!alike) {
    for (std::size_t n = 0; n < arrays.size(); ++n)
      check_cast(for_promotion(arrays[n]), result, call, "operand " + std::to_string(n));
    if (out) check_cast(result, out.attr("dtype").cast<py::dtype>(), call, "the result");
  }
  return result;
}

bool all_fortran(const std::vector<py::array>& arrays) {
  return std::all_of(arrays.begin(), arrays.end(),
                     [](const auto& array) { return (array.flags() & py::array::f_style) != 0; });
}

std::vector<py::ssize_t> output_extents(const Contraction& contraction) {
  std::vector<py::ssize_t> extents;
  for (const auto label : contraction.output) extents.push_back(contraction.extents[label]);
  return extents;
}

// The operand's own memory, by the strides of the output's labels.
py::array view_of(const Contraction& contraction, const py::array& base) {
  const auto& operand = contraction.operands.front();
  std::vector<py::ssize_t> strides;
  for (const auto label : contraction.output) {
    const auto found = std::find(operand.labels.begin(), operand.labels.end(), label);
    strides.push_back(operand.strides[static_cast<std::size_t>(found - operand.labels.begin())]);
  }
  return py::array(base.dtype(), output_extents(contraction), strides, base.data(), base);
}

// Computes with the output's dimensions in the order of memory, and lays the array's dimensions over them. Leaves the
// contraction in that order.
py::array computed(Contraction& contraction, const std::vector<std::uint32_t>& order) {
  const auto extents = output_extents(contraction);
  const auto output = std::exchange(contraction.output, order);
  std::vector<const void*> data;
  for (const auto& operand : contraction.operands) data.push_back(operand.data);
  const auto result = compute(contraction, data);
  std::vector<py::ssize_t> strides(order.size());
  auto stride = static_cast<py::ssize_t>(size_of(result.type()));
  for (std::size_t d = order.size(); d-- > 0; stride *= contraction.extents[order[d]])
    strides[static_cast<std::size_t>(std::find(output.begin(), output.end(), order[d]) - output.begin())] = stride;
  return array_on(result, extents, strides);
}

py::array computed_as_before(const KnownCalls::Call& call, PyObject* const* arguments) {
  std::vector<const void*> data;
  data.reserve(call.contraction.operands.size());
  for (std::size_t n = 0; n < call.contraction.operands.size(); ++n)
    data.push_back(py::detail::array_proxy(arguments[n + 1])->data);
  return array_on(compute(call.contraction, data), call.extents, call.strides);
}

// The array that `out` stands for; null without one.
py::object out_array(py::handle out) {
  if (!out) return {};
  if (py::isinstance<py::array>(out)) return py::reinterpret_borrow<py::object>(out);
  if (functions().is_tensor(out).cast<bool>()) return functions().as_array(out);
  throw py::type_error("keyword parameter out must be an array for einsum");
}

void check_out(const py::array& out, const Contraction& contraction) {
  const auto extents = output_extents(contraction);
  if (static_cast<std::size_t>(out.ndim()) != extents.size())
    throw std::invalid_argument("out does not have the correct number of dimensions, has " +
                                std::to_string(out.ndim()) + " but should have " + std::to_string(extents.size()));
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (out.shape(static_cast<py::ssize_t>(d)) != extents[d])
      throw std::invalid_argument("out has extent " + std::to_string(out.shape(static_cast<py::ssize_t>(d))) +
                                  " along dimension " + std::to_string(d) + ", but the result has " +
                                  std::to_string(extents[d]));
}

// NumPy gives a number where a result has no dimensions, and PyTorch's users get tensors.
py::object handed_out(py::array result, bool as_tensor) {
  if (as_tensor) return functions().to_tensor(result);
  if (result.ndim() == 0) return result[py::tuple()];
  return py::object(std::move(result));
}

Contraction bound(const EinsumArguments& call, const std::vector<py::array>& arrays) {
  std::vector<StridedArray> strided_arrays;
  for (const auto& array : arrays) strided_arrays.push_back(strided(array));
  auto contraction = bind_arrays(call.equation, strided_arrays);
  contraction.path = call.path;
  return contraction;
}

bool all_the_same(const std::vector<py::array>& arrays, const std::vector<py::array>& made) {
  return std::equal(arrays.begin(), arrays.end(), made.begin(),
                    [](const auto& array, const auto& other) { return array.is(other); });
}

// The contraction of arrays that eindb can read, which are those of the call or copies of them.
Contraction readable(Contraction contraction, const EinsumArguments& call, const std::vector<py::array>& arrays,
                     const std::vector<py::array>& made) {
  if (!all_the_same(arrays, made)) contraction = bound(call, made);
  for (std::size_t n = 0; n < made.size(); ++n) contraction.operands[n].type = *element_type_of(made[n].dtype());
  return contraction;
}

bool has_sparse(const EinsumArguments& call) {
  return std::any_of(call.operands.begin(), call.operands.end(), [](py::handle operand) {
    return !py::isinstance<py::array>(operand) && functions().is_sparse(operand).cast<bool>();
  });
}

// Sparse operands are tensors of a statement, which is planned by their cells.
py::object sparse_result(const EinsumArguments& call) {
  if (call.out || call.dtype || call.casting || call.order == Order::F)
    throw py::type_error("einsum of sparse operands has no out, dtype, casting or order 'F': convert its result");
  py::list operands;
  for (const auto operand : call.operands) operands.append(operand);
  return functions().sparse_einsum(call.equation.terms, call.equation.output, operands, call.path);
}

py::object einsum(PyObject* const* arguments, std::size_t count, PyObject* names) {
  if (names == nullptr)
    if (const auto known = known_calls().find(arguments, count))
      return handed_out(computed_as_before(*known, arguments), false);
  auto call = read_arguments(arguments, count, names);
  if (has_sparse(call)) return sparse_result(call);
  const auto arrays = arrays_of(call);
  const auto out = out_array(call.out);
  std::vector<std::size_t> ranks;
  for (const auto& array : arrays) ranks.push_back(static_cast<std::size_t>(array.ndim()));
  resolve(call.equation, ranks);
  auto contraction = bound(call, arrays);
  if (out) check_out(out, contraction);

  const bool as_tensor =
      !py::isinstance<py::array>(call.operands.front()) && functions().is_tensor(call.operands.front()).cast<bool>();
  if (contraction.is_view() && !out && (!call.dtype || call.dtype->equal(arrays.front().dtype())))
    return handed_out(view_of(contraction, arrays.front()), as_tensor);
  const auto dtype = result_dtype(call, arrays, out);
  const auto computation = computation_of(dtype);
  if (computation.way == Computation::Way::NumPy)
    return py::reinterpret_steal<py::object>(
        PyObject_Vectorcall(functions().numpy_einsum.ptr(), arguments, count, names));

  const auto order = memory_order(contraction, call.order, all_fortran(arrays));
  const auto made = prepared(arrays, dtype, computation);
  contraction = readable(std::move(contraction), call, arrays, made);
  auto result = converted(computed(contraction, order), dtype, computation);
  if (names == nullptr && computation.way == Computation::Way::Direct && result.size() > 0 &&
      all_the_same(arrays, made))
    known_calls().keep(arguments, count,
                       {.contraction = std::move(contraction),
                        .extents = {result.shape(), result.shape() + result.ndim()},
                        .strides = {result.strides(), result.strides() + result.ndim()}});
  if (!out) return handed_out(std::move(result), as_tensor);
  functions().copyto(out, result, py::arg("casting") = "unsafe");
  return py::reinterpret_borrow<py::object>(call.out);
}

PyObject* call_einsum(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  try {
    return einsum(arguments, static_cast<std::size_t>(count), names).release().ptr();
  } catch (...) {
    set_error_of_exception();
    return nullptr;
  }
}

constexpr const char* kDocumentation =
    "einsum(subscripts, *operands, out=None, dtype=None, order='K', casting='safe', optimize=False)\n"
    "--\n\n"
    "The sum of products of arrays that subscripts describe, as numpy.einsum has it.\n\n"
    "    einsum('ij,jk->ik', A, B)             # a product of matrices\n"
    "    einsum(A, [0, 1], B, [1, 2], [0, 2])  # the same by sublists\n"
    "    einsum('...ii->...i', A)              # diagonals: a view of A\n\n"
    "operands: arrays of NumPy, PyTorch's tensors on the CPU, whatever numpy.asarray or DLPack takes, lists and\n"
    "    numbers. Dimensions of one label have one extent, or 1, which is broadcast. Matrices of scipy.sparse and\n"
    "    sparse tensors of PyTorch are read by their cells; with these there is no out, dtype and casting.\n"
    "out: an array of the result's shape, which gets the result and is returned.\n"
    "dtype: in which is computed; else the one to which NumPy promotes the operands, and out.\n"
    "order: the layout of a new array: 'C', 'F', 'A' or 'K'.\n"
    "casting: what may be converted: 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'.\n"
    "optimize: a path, such as [(0, 1), (0, 1)] or einsum_path gives, or what NumPy and opt_einsum take otherwise, "
    "which\n"
    "    is left to eindb's planner.\n\n"
    "Returns a new array, a number where no dimension is left, a view where one operand is only looked at in another\n"
    "way, a tensor of PyTorch where the first operand is one. A result of two dimensions is sparse where all operands\n"
    "are: a CSR matrix of scipy.sparse, or a COO tensor of PyTorch. Long calls end with KeyboardInterrupt at "
    "Ctrl-C.\n\n"
    "Raises ValueError and TypeError as numpy.einsum does, and eindb.Error where memory does not suffice.";

PyMethodDef einsum_method = {"einsum", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_einsum)),
                             METH_FASTCALL | METH_KEYWORDS, kDocumentation};

}  // namespace

void define_einsum(py::module_& module) {
  const auto name = py::str("eindb");
  module.attr("einsum") = py::reinterpret_steal<py::object>(PyCFunction_NewEx(&einsum_method, nullptr, name.ptr()));
  module.def("is_readable", &is_readable, "Whether eindb reads the array where it lies, without a copy.");
  module.def(
      "read_equation",
      [](const py::tuple& arguments) {
        const auto read = read_arguments(PySequence_Fast_ITEMS(arguments.ptr()), arguments.size(), nullptr);
        py::list operands;
        for (const auto operand : read.operands) operands.append(operand);
        return py::make_tuple(read.equation.terms, read.equation.output, operands);
      },
      "The terms, the output and the operands of a call of einsum: labels are numbers, -1 is an ellipsis.");
  module.def(
      "resolve_equation",
      [](std::vector<std::vector<Label>> terms, std::optional<std::vector<Label>> output,
         const std::vector<std::size_t>& ranks) {
        Equation equation{std::move(terms), std::move(output)};
        resolve(equation, ranks);
        return py::make_tuple(equation.terms, *equation.output);
      },
      "The terms and the output without ellipses, for operands of so many dimensions.");
  module.def(
      "prepare",
      [] {
        static_cast<void>(functions());
        static_cast<void>(dtype_of(eindb::ElementType::Float32));
      },
      "Looks up what calls need of other modules: while one imports, another thread could wait for it for ever.");
  module.def(
      "renew_pool", [] { renew_plan_pool(); }, "For a child of fork().");
}

}  // namespace eindb_python
