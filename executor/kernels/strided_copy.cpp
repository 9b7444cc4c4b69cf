#include "executor/kernels/strided_copy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/streamed_copy.hpp"

namespace eindb {
namespace {

struct Dimension {
  std::int64_t extent;
  std::int64_t target;  // strides
  std::int64_t source;
};

// The dimensions in the target's memory order, outermost first, with dimensions that nest on both sides merged.
// Example: a 4 x 5 x 6 block of a contiguous source and target is one dimension of 120.
std::vector<Dimension> normalised(std::span<const std::int64_t> extents, std::span<const std::int64_t> target,
                                  std::span<const std::int64_t> source) {
  std::vector<Dimension> sorted;
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (extents[d] != 1) sorted.push_back({extents[d], target[d], source[d]});
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.target > b.target; });
  std::vector<Dimension> merged;
  for (const auto& inner : sorted) {
    if (!merged.empty() && merged.back().target == inner.target * inner.extent &&
        merged.back().source == inner.source * inner.extent) {
      merged.back() = {merged.back().extent * inner.extent, inner.target, inner.source};
    } else {
      merged.push_back(inner);
    }
  }
  return merged;
}

// Calls body(target offset, source offset) for every index of the dimensions.
template <class Body>
void for_each_offset(std::span<const Dimension> dimensions, std::int64_t target, std::int64_t source,
                     const Body& body) {
  if (dimensions.empty()) return body(target, source);
  const auto& outer = dimensions.front();
  for (std::int64_t i = 0; i < outer.extent; ++i)
    for_each_offset(dimensions.subspan(1), target + i * outer.target, source + i * outer.source, body);
}

class StridedCopy {
 public:
  StridedCopy(const LevelTable& level, const StridedTarget& target, const StridedSource& source)
      : level_(level), target_(target), source_(source) {}

  void run(std::vector<Dimension> dimensions) {
    auto all = static_cast<std::size_t>(bytes(target_.dtype));
    for (const auto& dimension : dimensions) all *= static_cast<std::size_t>(dimension.extent);
    streams_ = exceeds_caches(all);
    // The inner loops take two dimensions: the target's innermost one as columns and, as rows, the one along which the
    // source is contiguous, or else the next outer one.
    auto columns = take_last(dimensions);
    auto rows = take_contiguous_source(dimensions, columns);
    for_each_offset(dimensions, 0, 0, [&](std::int64_t target, std::int64_t source) {
      auto* to = static_cast<std::byte*>(target_.data) + target * bytes(target_.dtype);
      const auto* from = static_cast<const std::byte*>(source_.data) + source * bytes(source_.dtype);
      copy_plane(to, from, rows, columns);
    });
    if (streams_) end_streams();
  }

 private:
  static constexpr std::int64_t kBlock = 64;  // side of a block if both sides are strided
  static constexpr std::int64_t kLeastSquare = 16;
  static constexpr std::int64_t kLongRow = 1024;  // size in bytes from which memcpy is worth its call

  static std::int64_t bytes(DType type) { return static_cast<std::int64_t>(size_of(type)); }

  static Dimension take_last(std::vector<Dimension>& dimensions) {
    if (dimensions.empty()) return {1, 1, 1};
    const auto last = dimensions.back();
    dimensions.pop_back();
    return last;
  }

  static Dimension take_contiguous_source(std::vector<Dimension>& dimensions, const Dimension& columns) {
    if (dimensions.empty()) return {1, 0, 0};
    auto chosen = std::prev(dimensions.end());
    if (columns.source != 1) {
      const auto contiguous =
          std::find_if(dimensions.begin(), dimensions.end(), [](const auto& d) { return d.source == 1; });
      if (contiguous != dimensions.end()) chosen = contiguous;
    }
    const auto rows = *chosen;
    dimensions.erase(chosen);
    return rows;
  }

  void copy_plane(std::byte* to, const std::byte* from, const Dimension& rows, const Dimension& columns) const {
    const bool same = target_.dtype == source_.dtype;
    const bool transposed = same && columns.target == 1 && rows.source == 1;
    const auto size = bytes(target_.dtype);
    if (same && columns.target == 1 && columns.source == 1 && columns.extent * size >= kLongRow) {
      for (std::int64_t r = 0; r < rows.extent; ++r)
        std::memcpy(to + r * rows.target * size, from + r * rows.source * size,
                    static_cast<std::size_t>(columns.extent * size));
    } else if (transposed && streams_ && is_streamed_square(rows, columns)) {
      (size == 4 ? level_.streams.transpose4 : level_.streams.transpose8)(to, rows.target, from, columns.source,
                                                                          columns.extent, rows.extent);
    } else if (!transposed && columns.source > 1 && columns.extent > kBlock) {
      copy_blocks(to, from, rows, columns);
    } else {
      move(to, from, rows, columns);
    }
  }

  bool is_streamed_square(const Dimension& rows, const Dimension& columns) const {
    return bytes(target_.dtype) <= 8 && rows.target > 1 && columns.source > 1 && rows.extent >= kLeastSquare &&
           columns.extent >= kLeastSquare;
  }

  // Block by block, so that cache lines read for one element are still cached for the next row.
  void copy_blocks(std::byte* to, const std::byte* from, const Dimension& rows, const Dimension& columns) const {
    for (std::int64_t c = 0; c < columns.extent; c += kBlock) {
      auto block = columns;
      block.extent = std::min(kBlock, columns.extent - c);
      move(to + c * columns.target * bytes(target_.dtype), from + c * columns.source * bytes(source_.dtype), rows,
           block);
    }
  }

  void move(std::byte* to, const std::byte* from, const Dimension& rows, const Dimension& columns) const {
    level_.of(target_.dtype)
        .move[slot_of(source_.dtype)]({to, rows.target, columns.target}, {from, rows.source, columns.source},
                                      rows.extent, columns.extent);
  }

  const LevelTable& level_;
  const StridedTarget& target_;
  const StridedSource& source_;
  bool streams_ = false;  // past the caches, where blocks are transposed
};

}  // namespace

void copy_strided(const LevelTable& level, const StridedTarget& target, const StridedSource& source,
                  std::span<const std::int64_t> extents) {
  CHECK(target.strides.size() == extents.size() && source.strides.size() == extents.size(),
        "a strided block has one stride per dimension");
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
  StridedCopy(level, target, source).run(normalised(extents, target.strides, source.strides));
}

void copy_strided(const StridedTarget& target, const StridedSource& source, std::span<const std::int64_t> extents) {
  copy_strided(preferred_level_table(), target, source, extents);
}

}  // namespace eindb
