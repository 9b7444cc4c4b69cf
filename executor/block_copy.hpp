#pragma once

#include <cstddef>
#include <span>

#include "plan/index_box.hpp"
#include "tensor/dtype.hpp"

namespace eindb {

/// A box of a tensor's elements in contiguous row-major memory.
template <class Byte>
struct BoxMemory {
  const IndexBox& box;
  std::span<Byte> bytes;  ///< at least the bytes of the box
};
using BoxSource = BoxMemory<const std::byte>;
using BoxTarget = BoxMemory<std::byte>;

/// Copies `part`, which lies in both boxes, from `source` to `target`.
void copy_part(const BoxTarget& target, const BoxSource& source, const IndexBox& part, DType dtype);

}  // namespace eindb
