#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace eindb {

/// An index that cannot be confused with another kind of index: `using VertexId = StrongId<struct VertexTag>`.
template <class Tag>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}
  constexpr std::size_t index() const { return index_; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  std::uint32_t index_ = UINT32_MAX;
};

}  // namespace eindb

template <class Tag>
struct std::hash<eindb::StrongId<Tag>> {
  std::size_t operator()(eindb::StrongId<Tag> id) const noexcept { return std::hash<std::size_t>{}(id.index()); }
};
