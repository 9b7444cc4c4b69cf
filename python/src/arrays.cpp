#include "python/src/arrays.hpp"

#include <algorithm>
#include <memory>

#include "python/src/plan_pool.hpp"

namespace eindb_python {
namespace {

using eindb::ElementType;

bool is_native(const py::dtype& dtype) {
  const char order = dtype.byteorder();
  return order == '=' || order == '|';
}

bool is_complex(ElementType type) { return type == ElementType::Complex64 || type == ElementType::Complex128; }
bool is_double(ElementType type) { return type != ElementType::Float32 && type != ElementType::Complex64; }

// The type in which eindb computes with operands of two types, which is NumPy's.
ElementType promoted(ElementType a, ElementType b) {
  if (a == b) return a;
  if (is_complex(a) || is_complex(b))
    return is_double(a) || is_double(b) ? ElementType::Complex128 : ElementType::Complex64;
  return ElementType::Float64;  // FLOAT32 or INT64 beside another type
}

// Conversions round and wrap, since what may be cast to what is checked before.
py::array cast(const py::array& array, const py::dtype& dtype) { return array.attr("astype")(dtype); }

py::array in_dtype(const py::array& array, const py::dtype& dtype) {
  return same(array.dtype(), dtype) ? array : cast(array, dtype);
}

// In the type of the computation, from the result's dtype, which it holds.
py::array in_type(const py::array& array, const py::dtype& result, const Computation& computation) {
  const auto exact = in_dtype(array, result);
  if (computation.way == Computation::Way::Unsigned) return exact.attr("view")(dtype_of(ElementType::Int64));
  return in_dtype(exact, dtype_of(computation.type));
}

}  // namespace

const Functions& functions() {
  static const auto* known = [] {
    const auto numpy = py::module_::import("numpy");
    const auto operands = py::module_::import("eindb._operands");
    const auto paths = py::module_::import("eindb._paths");
    return new Functions{operands.attr("numpy_einsum"), numpy.attr("result_type"),     numpy.attr("can_cast"),
                         numpy.attr("copyto"),          numpy.attr("dtype"),           operands.attr("as_array"),
                         operands.attr("is_tensor"),    operands.attr("to_tensor"),    paths.attr("path_clause"),
                         operands.attr("is_sparse"),    operands.attr("sparse_einsum")};
  }();
  return *known;
}

std::optional<ElementType> element_type_of(const py::dtype& dtype) {
  if (!is_native(dtype)) return std::nullopt;
  const auto size = dtype.itemsize();
  switch (dtype.kind()) {
    case 'f':
      return size == 4   ? std::optional(ElementType::Float32)
             : size == 8 ? std::optional(ElementType::Float64)
                         : std::nullopt;
    case 'c':
      return size == 8    ? std::optional(ElementType::Complex64)
             : size == 16 ? std::optional(ElementType::Complex128)
                          : std::nullopt;
    case 'i': return size == 8 ? std::optional(ElementType::Int64) : std::nullopt;
    default: return std::nullopt;
  }
}

py::dtype dtype_of(ElementType type) {
  static const auto* known =
      new std::vector<py::dtype>{py::dtype("f4"), py::dtype("f8"), py::dtype("c8"), py::dtype("c16"), py::dtype("i8")};
  return (*known)[static_cast<std::size_t>(type)];
}

bool same(const py::dtype& a, const py::dtype& b) {
  return a.is(b) || (a.num() == b.num() && a.byteorder() == b.byteorder() && a.itemsize() == b.itemsize() &&
                     element_type_of(a).has_value());
}

Computation computation_of(const py::dtype& result) {
  using Way = Computation::Way;
  if (const auto type = element_type_of(result)) return {Way::Direct, *type};
  switch (result.kind()) {
    case 'b': return {Way::Logical, ElementType::Int64};
    case 'i': return {Way::Converted, ElementType::Int64};
    case 'u': return {result.itemsize() == 8 ? Way::Unsigned : Way::Converted, ElementType::Int64};
    case 'f': return {result.itemsize() == 2 ? Way::Converted : Way::NumPy, ElementType::Float32};
    default: return {};
  }
}

bool is_readable(const py::array& array) {
  const auto size = array.itemsize();
  const auto alignment = static_cast<std::uintptr_t>(size == sizeof(float) ? sizeof(float) : sizeof(double));
  if (reinterpret_cast<std::uintptr_t>(array.data()) % alignment != 0 && array.size() > 0) return false;
  for (py::ssize_t d = 0; d < array.ndim(); ++d)
    if (array.shape(d) > 1 && array.strides(d) % size != 0) return false;
  return true;
}

std::vector<py::array> prepared(const std::vector<py::array>& arrays, const py::dtype& result,
                                const Computation& computation) {
  std::vector<py::array> made;
  std::optional<ElementType> common;
  for (const auto& array : arrays) {
    const auto type = computation.way == Computation::Way::Direct ? element_type_of(array.dtype()) : std::nullopt;
    made.push_back(type ? array : in_type(array, result, computation));
    const auto own = type.value_or(computation.type);
    common = common ? promoted(*common, own) : own;
  }
  for (auto& array : made) {
    if (common != computation.type) array = in_type(array, result, computation);
    if (!is_readable(array)) array = cast(array, array.dtype());
  }
  return made;
}

StridedArray strided(const py::array& array) {
  static_assert(sizeof(py::ssize_t) == sizeof(std::int64_t));
  return {array.data(), static_cast<std::size_t>(array.ndim()), array.shape(), array.strides()};
}

py::array array_on(const eindb::TensorResult& result, const std::vector<py::ssize_t>& extents,
                   const std::vector<py::ssize_t>& strides) {
  const auto* data = result.data();
  if (data == nullptr || result.element_count() == 0) return py::array(dtype_of(result.type()), extents);
  auto kept = std::make_unique<eindb::TensorResult>(result);
  const py::capsule owner(kept.get(), [](void* p) { delete static_cast<eindb::TensorResult*>(p); });
  static_cast<void>(kept.release());
  return py::array(dtype_of(result.type()), extents, strides, data, owner);
}

py::array converted(py::array values, const py::dtype& result, const Computation& computation) {
  switch (computation.way) {
    case Computation::Way::Converted: return values.attr("astype")(result);
    case Computation::Way::Unsigned: return values.attr("view")(result);
    case Computation::Way::Logical: return values.attr("__ne__")(0);
    case Computation::Way::Direct:
    case Computation::Way::NumPy: break;
  }
  return values;
}

}  // namespace eindb_python
