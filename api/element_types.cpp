#include "api/element_types.hpp"

#include "common/error.hpp"

namespace eindb {

DType dtype(ElementType type) {
  switch (type) {
    case ElementType::Float32: return DType::Float32;
    case ElementType::Float64: return DType::Float64;
    case ElementType::Complex64: return DType::Complex64;
    case ElementType::Complex128: return DType::Complex128;
    case ElementType::Int64: return DType::Int64;
  }
  throw Error(ErrorKind::Type, "a tensor has no such element type");
}

ElementType element_type(DType type) {
  switch (type) {
    case DType::Float32: return ElementType::Float32;
    case DType::Float64: return ElementType::Float64;
    case DType::Complex64: return ElementType::Complex64;
    case DType::Complex128: return ElementType::Complex128;
    case DType::Int64: break;
  }
  return ElementType::Int64;
}

MemoryTensor memory_tensor(const TensorView& view) {
  return {.dtype = dtype(view.type),
          .data = view.data,
          .extents = view.extents,
          .strides = view.strides,
          .labels = view.labels};
}

}  // namespace eindb
