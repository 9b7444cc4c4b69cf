#include "python/src/known_calls.hpp"

#include <algorithm>
#include <utility>

#include "python/src/plan_pool.hpp"

namespace eindb_python {
namespace {

std::uint64_t address_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

bool can_be_read(const py::detail::PyArray_Proxy& array, std::size_t element_bytes) {
  return address_of(array.data) % std::min(element_bytes, sizeof(double)) == 0;
}

}  // namespace

// False where calls like this one are not kept.
bool KnownCalls::sign(PyObject* const* arguments, std::size_t count) {
  if (count < 2 || PyUnicode_CheckExact(arguments[0]) == 0) return false;
  signature_.clear();
  signature_.push_back(address_of(arguments[0]));
  const auto* first = py::detail::array_proxy(arguments[1]);
  for (std::size_t n = 1; n < count; ++n) {
    if (!py::isinstance<py::array>(arguments[n])) return false;
    const auto* array = py::detail::array_proxy(arguments[n]);
    if (array->descr != first->descr) return false;
    const auto rank = static_cast<std::size_t>(array->nd);
    signature_.push_back(rank);
    for (std::size_t d = 0; d < rank; ++d) signature_.push_back(static_cast<std::uint64_t>(array->dimensions[d]));
    for (std::size_t d = 0; d < rank; ++d) signature_.push_back(static_cast<std::uint64_t>(array->strides[d]));
  }
  signature_.push_back(address_of(first->descr));
  return true;
}

KnownCalls::Entry& KnownCalls::place() {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  std::uint64_t hash = signature_.size();
  for (const auto word : signature_) hash = ((hash << 7U | hash >> 57U) ^ word) * kFactor;
  return entries_[(hash >> 32U) % kPlaces];
}

std::shared_ptr<const KnownCalls::Call> KnownCalls::find(PyObject* const* arguments, std::size_t count) {
  if (!sign(arguments, count)) return nullptr;
  const auto& entry = place();
  if (entry.signature != signature_) return nullptr;
  for (std::size_t n = 1; n < count; ++n)
    if (!can_be_read(*py::detail::array_proxy(arguments[n]), size_of(entry.call->contraction.operands[n - 1].type)))
      return nullptr;
  return entry.call;
}

void KnownCalls::keep(PyObject* const* arguments, std::size_t count, Call call) {
  if (!sign(arguments, count)) return;
  for (auto& operand : call.contraction.operands) operand.data = nullptr;
  Entry made{.signature = signature_, .objects = {}, .call = std::make_shared<const Call>(std::move(call))};
  made.objects.push_back(py::reinterpret_borrow<py::object>(arguments[0]));
  made.objects.push_back(py::reinterpret_borrow<py::object>(py::detail::array_proxy(arguments[1])->descr));
  std::swap(place(), made);
}

// Never destroyed: the interpreter ends before.
KnownCalls& known_calls() {
  static auto* const known = new KnownCalls();
  return *known;
}

}  // namespace eindb_python
