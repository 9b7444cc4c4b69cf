#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eindb {

/// Reserves memory for that many elements, in huge pages if it is much: memory that is written for the first time costs
/// a fault per page. Without effect on memory that a vector has already.
template <class T>
void reserve_huge(std::vector<T>& vector, std::size_t count) {
  constexpr std::size_t kLeast = std::size_t{4} << 20U;
  constexpr std::uintptr_t kPage = 4096;
  if (count <= vector.capacity()) return;
  vector.reserve(count);
  if (count * sizeof(T) < kLeast) return;
  auto* data = reinterpret_cast<std::byte*>(vector.data());
  const auto before = (kPage - reinterpret_cast<std::uintptr_t>(data) % kPage) % kPage;
  const auto bytes = vector.capacity() * sizeof(T);
  if (bytes <= before) return;
  ::madvise(data + before, (bytes - before) / kPage * kPage, MADV_HUGEPAGE);  // falls back to small pages
}

}  // namespace eindb
