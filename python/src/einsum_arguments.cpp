#include "python/src/einsum_arguments.hpp"

#include <array>
#include <stdexcept>
#include <string_view>

namespace eindb_python {
namespace {

constexpr long kNumbers = 52;  // labels of sublists are numbers below this one, as in NumPy

std::string_view text_of(py::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) throw py::error_already_set();
  return {data, static_cast<std::size_t>(size)};
}

Equation subscripts_of(py::handle text) {
  if (PyUnicode_READY(text.ptr()) != 0) throw py::error_already_set();
  const auto kind = PyUnicode_KIND(text.ptr());
  const auto* data = PyUnicode_DATA(text.ptr());
  std::u32string letters(static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr())), U' ');
  for (std::size_t n = 0; n < letters.size(); ++n) letters[n] = PyUnicode_READ(kind, data, static_cast<Py_ssize_t>(n));
  return parse_subscripts(letters);
}

Label number_of(py::handle item) {
  if (PyIndex_Check(item.ptr()) == 0)
    throw py::type_error("each subscript of a sublist must be either an integer or an ellipsis");
  const auto number = PyNumber_AsSsize_t(item.ptr(), PyExc_ValueError);
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (number < 0 || number >= kNumbers)
    throw std::invalid_argument("subscripts of a sublist are integers from 0 to 51");
  return static_cast<Label>(number);
}

std::vector<Label> sublist_of(py::handle list) {
  if (PySequence_Check(list.ptr()) == 0 || PyUnicode_Check(list.ptr()) != 0)
    throw py::type_error("the subscripts for each operand must be a list or a tuple");
  std::vector<Label> labels;
  for (const auto item : list) {
    const bool is_ellipsis = item.is(py::ellipsis());
    if (is_ellipsis && !labels.empty() && std::count(labels.begin(), labels.end(), kEllipsis) > 0)
      throw std::invalid_argument("a sublist has several ellipses");
    labels.push_back(is_ellipsis ? kEllipsis : number_of(item));
  }
  return labels;
}

void read_sublists(PyObject* const* arguments, std::size_t count, EinsumArguments& read) {
  if (count < 2) throw std::invalid_argument("einsum takes subscripts and operands, or operands with their sublists");
  for (std::size_t n = 0; n + 1 < count; n += 2) {
    read.operands.emplace_back(arguments[n]);
    read.equation.terms.push_back(sublist_of(arguments[n + 1]));
  }
  if (count % 2 == 1) read.equation.output = sublist_of(arguments[count - 1]);
}

void read_operands(PyObject* const* arguments, std::size_t count, EinsumArguments& read) {
  read.equation = subscripts_of(arguments[0]);
  for (std::size_t n = 1; n < count; ++n) read.operands.emplace_back(arguments[n]);
  if (read.operands.size() != read.equation.terms.size())
    throw std::invalid_argument("the subscripts have " + std::to_string(read.equation.terms.size()) +
                                " terms, but there are " + std::to_string(read.operands.size()) + " operands");
}

Order order_of(py::handle value) {
  if (value.is_none()) return Order::K;
  if (PyUnicode_Check(value.ptr()) == 0) throw py::type_error("order must be a str");
  const auto text = text_of(value);
  if (text.size() == 1) {
    switch (text[0] & ~0x20) {
      case 'C': return Order::C;
      case 'F': return Order::F;
      case 'A': return Order::A;
      case 'K': return Order::K;
      default: break;
    }
  }
  throw std::invalid_argument("order must be one of 'C', 'F', 'A', or 'K' (got '" + std::string(text) + "')");
}

py::object casting_of(py::handle value) {
  static constexpr std::array<std::string_view, 5> kRules{"no", "equiv", "safe", "same_kind", "unsafe"};
  if (PyUnicode_Check(value.ptr()) == 0) throw py::type_error("casting must be a str");
  const auto text = text_of(value);
  if (std::find(kRules.begin(), kRules.end(), text) == kRules.end())
    throw std::invalid_argument("casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '" +
                                std::string(text) + "')");
  return text == "safe" ? py::object() : py::reinterpret_borrow<py::object>(value);
}

// Orders of contraction do not change results, so that the names of algorithms are only checked.
void read_optimize(py::handle value, EinsumArguments& read) {
  if (value.is_none() || PyBool_Check(value.ptr()) != 0) return;
  read.path = functions().path_clause(value, read.operands.size()).cast<std::string>();
}

void read_keyword(std::string_view name, py::handle value, EinsumArguments& read) {
  if (name == "out") {
    if (!value.is_none()) read.out = value;
  } else if (name == "dtype") {
    if (!value.is_none()) read.dtype = py::dtype(functions().dtype(value).cast<py::dtype>());
  } else if (name == "order") {
    read.order = order_of(value);
  } else if (name == "casting") {
    read.casting = casting_of(value);
  } else if (name == "optimize") {
    read_optimize(value, read);
  } else {
    throw py::type_error("einsum has no keyword argument '" + std::string(name) + "'");
  }
}

}  // namespace

EinsumArguments read_arguments(PyObject* const* arguments, std::size_t count, PyObject* names) {
  EinsumArguments read;
  if (count == 0) throw std::invalid_argument("einsum takes subscripts and operands, or operands with their sublists");
  if (PyUnicode_Check(arguments[0]) != 0) read_operands(arguments, count, read);
  else read_sublists(arguments, count, read);
  const auto named = names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(names));
  for (std::size_t n = 0; n < named; ++n)
    read_keyword(text_of(PyTuple_GET_ITEM(names, static_cast<Py_ssize_t>(n))), arguments[count + n], read);
  return read;
}

}  // namespace eindb_python
