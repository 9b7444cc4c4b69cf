#pragma once

#include "tests/optimizer/graph_builder.hpp"

namespace eindb::testing {

/// The value of an input that may be a selection from a stored tensor with the value `whole`.
inline DenseTensor selected_part(const Vertex& vertex, const DenseTensor& whole) {
  auto part = DenseTensor::uninitialized(whole.dtype(), vertex.bound);
  const auto& shape = whole.shape();
  dispatch(whole.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    std::int64_t next = 0;
    for (std::int64_t n = 0; n < shape.element_count(); ++n) {
      bool selected = true;
      auto rest = n;
      for (std::size_t d = shape.rank(); d-- > 0; rest /= shape[d]) {
        const auto held = vertex.stored->selection ? vertex.stored->selection->at[d] : std::nullopt;
        selected = selected && (!held || *held == rest % shape[d]);
      }
      if (selected) part.template mutable_data<T>()[next++] = whole.template data<T>()[n];
    }
  });
  return part;
}

/// The shape of the stored tensor that an input reads, whole or as a selection.
inline const Shape& stored_shape(const Vertex& vertex) {
  return vertex.stored->selection ? vertex.stored->selection->stored.shape() : vertex.bound;
}

}  // namespace eindb::testing
