#include "executor/kernels/packed_product.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/cache_sizes.hpp"
#include "executor/kernels/panel_packer.hpp"
#include "executor/kernels/workspace.hpp"

namespace eindb {
namespace {

std::int64_t rounded_down(std::int64_t a, std::int64_t unit) { return std::max(unit, a / unit * unit); }

// The sizes of blocks in bytes: a third more than the first-level cache for a panel of s, half of the other caches for
// the blocks, and less if the workspace is bounded.
std::int64_t most_of_columns() {
  return static_cast<std::int64_t>(std::min(cache_sizes().second / 2, Workspace::most() / 4));
}
std::int64_t most_of_rows() {
  return static_cast<std::int64_t>(std::min(cache_sizes().third / 2, Workspace::most() / 2));
}

struct Limits {
  std::int64_t depth;
  std::int64_t columns;  // for this depth
  std::int64_t rows;
};
constexpr std::int64_t kDeepestPanel = 512;
constexpr std::int64_t kDeepestBox = 4096;
constexpr std::int64_t kDeepestInPlace = 64;  // most rows prefetched at a time
constexpr std::int64_t kMostPackedRows = 16384;
constexpr std::int64_t kMostColumns = 2048;

Limits limits_of(const PanelTable& table, DType compute, std::int64_t depth) {
  const auto& caches = cache_sizes();
  const auto size = static_cast<std::int64_t>(size_of(compute));
  const auto deepest = std::min(kDeepestPanel, static_cast<std::int64_t>(caches.first) * 4 / 3 / (table.rows * size));
  const auto bytes = depth * size;
  return {deepest, rounded_down(std::min(kMostColumns, most_of_columns() / bytes), table.columns),
          rounded_down(std::min(kMostPackedRows, most_of_rows() / bytes), table.rows)};
}

// `width` and `depth`: positions of the contiguous loop in these groups, or -1.
Contiguity contiguity_of(int width, std::size_t width_loops, int depth) {
  if (width >= 0 && static_cast<std::size_t>(width) + 1 == width_loops) return Contiguity::InnerWidth;
  if (width >= 0) return Contiguity::OuterWidth;
  return depth >= 0 ? Contiguity::Depth : Contiguity::None;
}

// Several contracted labels that do not nest are read in short runs; the more of them are packed at a time, the longer
// the runs.
std::int64_t deepest_box(const ProductGroups& groups, DType compute, std::int64_t depth) {
  if (groups.contracted.size() < 2) return depth;
  const auto width =
      std::min(kMostPackedRows, count_of(groups.rows)) + std::min(kMostPackedRows, count_of(groups.columns));
  const auto bytes = static_cast<std::int64_t>(cache_sizes().second) / 4 * 3;
  return std::clamp(bytes / (width * static_cast<std::int64_t>(size_of(compute))), depth, kDeepestBox);
}

std::int64_t room_of(const std::vector<std::int64_t>& sides) {
  std::int64_t room = 1;
  for (const auto side : sides) room *= side;
  return room;
}

// Divides `count` into the fewest parts of at most `most`, as equal as possible.
std::int64_t even_part(std::int64_t count, std::int64_t most) { return ceil_divide(count, ceil_divide(count, most)); }

// The layout of a panel's columns in the result: all contiguous, contiguous within each vector, or in runs.
enum class ColumnLayout : std::uint8_t { SideBySide, InVectors, InRuns };

// Iterates over the boxes of a group. The list of a box is also valid for other boxes of equal extents, up to an
// offset.
class BoxWalk {
 public:
  BoxWalk(const IndexGroup& group, const std::vector<std::int64_t>& sides) : boxes_(group, sides) {}

  const GroupBoxes& boxes() const { return boxes_; }
  std::int64_t count() const { return boxes_.count(); }
  bool stands_at(std::int64_t number) const { return number == number_; }
  /// Returns whether the box must be listed again.
  bool go_to(std::int64_t number) {
    const bool listed = number_ >= 0;
    boxes_.go_to(number_ = number);
    const auto extents = boxes_.extents();
    if (listed && std::equal(extents.begin(), extents.end(), extents_.begin())) return false;
    extents_.assign(extents.begin(), extents.end());
    listed_in_first_ = boxes_.begin_in_first();
    listed_in_second_ = boxes_.begin_in_second();
    return true;
  }
  /// The offset from the listed box to the current one.
  std::int64_t away_in_first() const { return boxes_.begin_in_first() - listed_in_first_; }
  std::int64_t away_in_second() const { return boxes_.begin_in_second() - listed_in_second_; }

 private:
  GroupBoxes boxes_;
  std::int64_t number_ = -1;
  std::vector<std::int64_t> extents_;
  std::int64_t listed_in_first_ = 0;
  std::int64_t listed_in_second_ = 0;
};

class PackedProduct {
 public:
  PackedProduct(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                const ProductOperand& s, const ProductOperand& v, void* result, bool first)
      : table_(level.of(compute).panels),
        factor_(factor),
        groups_(groups),
        s_(s),
        v_(v),
        result_(static_cast<std::byte*>(result)),
        first_(first),
        size_(static_cast<std::int64_t>(size_of(compute))),
        s_contiguity_(contiguity_of(contiguous_in_first(groups.rows), groups.rows.size(),
                                    contiguous_in_first(groups.contracted))),
        v_contiguity_(contiguity_of(contiguous_in_first(groups.columns), groups.columns.size(),
                                    contiguous_in_second(groups.contracted))),
        // v is read in place by few panels of s, so packing it would not pay.
        reads_v_in_place_(v.dtype == compute && v_contiguity_ == Contiguity::InnerWidth &&
                          groups.contracted.size() <= 1 && count_of(groups.rows) <= kFewPanels * table_.rows),
        blocks_(product_blocks(table_, compute, groups, reads_v_in_place_)),
        rows_(groups.rows, blocks_.rows),
        columns_(groups.columns, blocks_.columns),
        depth_(groups.contracted, blocks_.contracted),
        panel_rows_(even_part(rows_.boxes().room(), table_.rows)),
        s_packer_(table_.packing[slot_of(s.dtype)], size_of(s.dtype), size_of(compute), s_contiguity_, panel_rows_,
                  true),
        v_packer_(table_.packing[slot_of(v.dtype)], size_of(v.dtype), size_of(compute), v_contiguity_, table_.columns,
                  false),
        workspace_(needed_bytes()) {
    const auto offsets = [&](std::int64_t count) {
      return workspace_.take_array<std::int64_t>(static_cast<std::size_t>(count));
    };
    s_panels_ = workspace_.take(s_bytes());
    v_panels_ = workspace_.take(v_bytes());
    s_rows_ = offsets(rows_.boxes().room());
    result_rows_ = offsets(rows_.boxes().room());
    v_columns_ = offsets(columns_.boxes().room());
    result_columns_ = offsets(columns_.boxes().room());
    column_layouts_ = workspace_.take_array<ColumnLayout>(static_cast<std::size_t>(panels_of_columns()));
    column_runs_ = workspace_.take_array<std::uint8_t>(static_cast<std::size_t>(columns_.boxes().room()));
    s_depth_ = offsets(depth_.boxes().room());
    v_depth_ = offsets(depth_.boxes().room());
    s_order_ = offsets(std::max(rows_.boxes().room(), depth_.boxes().room()));
    v_order_ = offsets(std::max(columns_.boxes().room(), depth_.boxes().room()));
  }

  void run() { run_batch(0, 0, 0, 0); }

 private:
  static constexpr std::int64_t kFewPanels = 3;

  std::size_t s_bytes() const {
    return static_cast<std::size_t>(
        PanelPacker::room(rows_.boxes().room(), depth_.boxes().room(), panel_rows_, s_contiguity_) * size_);
  }
  std::size_t v_bytes() const {
    return static_cast<std::size_t>(
        PanelPacker::room(columns_.boxes().room(), depth_.boxes().room(), table_.columns, v_contiguity_) * size_);
  }
  std::size_t needed_bytes() const {
    const auto offsets = [](std::int64_t count) { return Workspace::rounded(static_cast<std::size_t>(count) * 8); };
    return Workspace::rounded(s_bytes()) + Workspace::rounded(v_bytes()) + 2 * offsets(rows_.boxes().room()) +
           2 * offsets(columns_.boxes().room()) + 2 * offsets(depth_.boxes().room()) +
           offsets(std::max(rows_.boxes().room(), depth_.boxes().room())) +
           offsets(std::max(columns_.boxes().room(), depth_.boxes().room())) +
           Workspace::rounded(static_cast<std::size_t>(panels_of_columns()) * sizeof(ColumnLayout)) +
           Workspace::rounded(static_cast<std::size_t>(columns_.boxes().room()));
  }
  std::int64_t panels_of_columns() const { return ceil_divide(columns_.boxes().room(), table_.columns); }

  void run_batch(std::size_t loop, std::int64_t s, std::int64_t v, std::int64_t result) {
    if (loop == groups_.batch.size()) return run_matrix(s, v, result);
    const auto& batch = groups_.batch[loop];
    for (std::int64_t i = 0; i < batch.extent; ++i)
      run_batch(loop + 1, s + i * batch.s, v + i * batch.v, result + i * batch.result);
  }

  void run_matrix(std::int64_t s, std::int64_t v, std::int64_t result) {
    v_is_packed_ = false;
    for (std::int64_t i = 0; i < rows_.boxes().box_count(); ++i) {
      go_to_rows(i);
      for (std::int64_t p = 0; p < depth_.boxes().box_count(); ++p) {
        go_to_depth(p);
        s_packer_.pack(s_box(s), s_panels_);
        for (std::int64_t j = 0; j < columns_.boxes().box_count(); ++j) {
          go_to_columns(j);
          pack_v(v);
          multiply(v, result, !first_ || p > 0);
        }
      }
    }
  }

  void go_to_rows(std::int64_t number) {
    if (rows_.stands_at(number) || !rows_.go_to(number)) return;
    const auto& box = rows_.boxes();
    box.list_first(s_rows_);
    box.list_second(result_rows_);
    if (s_contiguity_ == Contiguity::OuterWidth) s_ordered_ = box.order_by_first(s_order_, true);
  }
  void go_to_columns(std::int64_t number) {
    if (columns_.stands_at(number)) return;
    v_is_packed_ = false;
    if (!columns_.go_to(number)) return;
    const auto& box = columns_.boxes();
    box.list_first(v_columns_);
    box.list_second(result_columns_);
    if (v_contiguity_ == Contiguity::OuterWidth) v_ordered_ = box.order_by_first(v_order_, true);
    for (std::int64_t j = 0; j < box.count(); j += table_.columns) {
      const auto width = std::min(table_.columns, box.count() - j);
      const auto layout = column_layouts_[j / table_.columns] = layout_of(j, width);
      if (layout == ColumnLayout::InRuns) list_runs(j, width);
    }
  }
  void go_to_depth(std::int64_t number) {
    if (depth_.stands_at(number)) return;
    v_is_packed_ = false;
    if (!depth_.go_to(number)) return;
    const auto& box = depth_.boxes();
    box.list_first(s_depth_);
    box.list_second(v_depth_);
    if (s_contiguity_ == Contiguity::Depth) s_ordered_ = box.order_by_first(s_order_);
    if (v_contiguity_ == Contiguity::Depth) v_ordered_ = box.order_by_second(v_order_);
  }

  static std::span<const std::int64_t> list(const std::int64_t* begin, std::int64_t count) {
    return {begin, static_cast<std::size_t>(count)};
  }
  static const std::byte* at(const ProductOperand& operand, std::int64_t offset) {
    return static_cast<const std::byte*>(operand.data) + offset * static_cast<std::int64_t>(size_of(operand.dtype));
  }
  OperandBox s_box(std::int64_t offset) const {
    return {.data = at(s_, offset + rows_.away_in_first() + depth_.away_in_first()),
            .width = list(s_rows_, rows_.count()),
            .depth = list(s_depth_, depth_.count()),
            .order = list(s_order_, s_ordered_),
            .inner = groups_.rows.empty() ? 1 : rows_.boxes().extents().back()};
  }
  OperandBox v_box(std::int64_t offset) const {
    return {.data = at(v_, offset + columns_.away_in_first() + depth_.away_in_second()),
            .width = list(v_columns_, columns_.count()),
            .depth = list(v_depth_, depth_.count()),
            .order = list(v_order_, v_ordered_),
            .inner = groups_.columns.empty() ? 1 : columns_.boxes().extents().back()};
  }

  ColumnLayout layout_of(std::int64_t begin, std::int64_t width) const {
    const auto* offsets = result_columns_ + begin;
    if (is_run(offsets, width)) return ColumnLayout::SideBySide;
    for (std::int64_t j = 0; j < width; j += table_.vector)
      if (!is_run(offsets + j, std::min(table_.vector, width - j))) return ColumnLayout::InRuns;
    return ColumnLayout::InVectors;
  }
  void list_runs(std::int64_t begin, std::int64_t width) {
    const auto* offsets = result_columns_ + begin;
    for (std::int64_t j = 0; j < width;) {
      const auto most = std::min(table_.vector, width - j);
      std::int64_t run = 1;
      while (run < most && offsets[j + run] == offsets[j] + run) ++run;
      column_runs_[begin + j] = static_cast<std::uint8_t>(run);
      j += run;
    }
  }
  // Whether the offsets are contiguous; the result's columns are in memory order.
  static bool is_run(const std::int64_t* offsets, std::int64_t count) {
    return offsets[count - 1] - offsets[0] == count - 1;
  }

  // Whether the columns form a whole panel that is contiguous in v.
  bool in_place(std::int64_t begin, std::int64_t width) const {
    if (!reads_v_in_place_ || width != table_.columns) return false;
    const auto inner = columns_.boxes().extents().back();
    return begin % inner + width <= inner;
  }

  void pack_v(std::int64_t offset) {
    if (v_is_packed_) return;
    v_is_packed_ = true;
    const auto box = v_box(offset);
    if (!reads_v_in_place_) return v_packer_.pack(box, v_panels_);
    for (std::int64_t j = 0; j < columns_.count(); j += table_.columns) {
      const auto width = std::min(table_.columns, columns_.count() - j);
      if (!in_place(j, width)) v_packer_.pack_panel(box, j, width, v_panels_ + j * depth_.count() * size_);
    }
  }

  // Processes deep boxes in parts: the space of a panel of s in the first-level cache is for one part.
  void multiply(std::int64_t v, std::int64_t result, bool add) {
    v += columns_.away_in_first() + depth_.away_in_second();
    result += rows_.away_in_second() + columns_.away_in_second();
    const auto part = even_part(depth_.count(), blocks_.depth);
    for (std::int64_t p = 0; p < depth_.count(); p += part)
      multiply_part(p, std::min(part, depth_.count() - p), v, result, add || p > 0);
  }

  void multiply_part(std::int64_t begin, std::int64_t depth, std::int64_t v, std::int64_t result, bool add) {
    const auto step = groups_.contracted.empty() ? 0 : groups_.contracted.front().second;
    for (std::int64_t i = 0; i < rows_.count(); i += panel_rows_) {
      poll();
      const auto height = std::min(panel_rows_, rows_.count() - i);
      const auto* s_panel = s_panels_ + (i * depth_.count() + begin * height) * size_;
      for (std::int64_t j = 0; j < columns_.count(); j += table_.columns) {
        const auto width = std::min(table_.columns, columns_.count() - j);
        const auto* columns = result_columns_ + j;
        const auto layout = column_layouts_[j / table_.columns];
        const bool contiguous = layout == ColumnLayout::SideBySide;
        const ProductTile tile{.data = result_ + (result + (contiguous ? columns[0] : 0)) * size_,
                               .rows = result_rows_ + i,
                               .columns = contiguous ? nullptr : columns,
                               .column_count = width,
                               .factor = factor_,
                               .add = add,
                               .runs = layout == ColumnLayout::InRuns ? column_runs_ + j : nullptr};
        if (in_place(j, width)) {
          table_.multiply(height, depth, s_panel, at(v_, v + v_columns_[j] + v_depth_[begin]), step, tile);
        } else {
          const auto* v_panel = v_panels_ + (j * depth_.count() + begin * table_.columns) * size_;
          table_.multiply(height, depth, s_panel, v_panel, table_.columns, tile);
        }
      }
    }
  }

  // A row of tiles takes some microseconds.
  void poll() {
    constexpr unsigned kRowsOfTiles = 8;
    if (++polls_ % kRowsOfTiles == 0) poll_cancellation();
  }

  const PanelTable& table_;
  double factor_;
  const ProductGroups& groups_;
  const ProductOperand& s_;
  const ProductOperand& v_;
  std::byte* result_;
  bool first_;
  std::int64_t size_;
  Contiguity s_contiguity_;
  Contiguity v_contiguity_;
  bool reads_v_in_place_;
  ProductBlocks blocks_;
  BoxWalk rows_;
  BoxWalk columns_;
  BoxWalk depth_;
  std::int64_t panel_rows_;
  PanelPacker s_packer_;
  PanelPacker v_packer_;
  Workspace workspace_;
  std::byte* s_panels_ = nullptr;
  std::byte* v_panels_ = nullptr;
  std::int64_t* s_rows_ = nullptr;
  std::int64_t* result_rows_ = nullptr;
  std::int64_t* v_columns_ = nullptr;
  std::int64_t* result_columns_ = nullptr;
  std::int64_t* s_depth_ = nullptr;
  std::int64_t* v_depth_ = nullptr;
  ColumnLayout* column_layouts_ = nullptr;  // for the box's panels
  std::uint8_t* column_runs_ = nullptr;     // for the box's columns, if those of a panel form runs
  std::int64_t* s_order_ = nullptr;
  std::int64_t* v_order_ = nullptr;
  std::int64_t s_ordered_ = 0;
  std::int64_t v_ordered_ = 0;
  bool v_is_packed_ = false;
  unsigned polls_ = 0;
};

}  // namespace

ProductBlocks product_blocks(const PanelTable& table, DType compute, const ProductGroups& groups, bool v_in_place) {
  ProductBlocks blocks;
  const auto deepest = limits_of(table, compute, kDeepestPanel).depth;
  blocks.depth = v_in_place ? std::min(deepest, kDeepestInPlace) : deepest;
  const std::array depth{contiguous_in_first(groups.contracted), contiguous_in_second(groups.contracted)};
  blocks.contracted = box_sides(groups.contracted, deepest_box(groups, compute, blocks.depth), 1, depth);
  const auto limits = limits_of(table, compute, room_of(blocks.contracted));
  const std::array columns{contiguous_in_second(groups.columns), contiguous_in_first(groups.columns)};
  blocks.columns = box_sides(groups.columns, limits.columns, table.columns, columns);
  const std::array rows{contiguous_in_first(groups.rows)};
  // If there is a single block of v, which stays packed, a block of s is read only once, so the second-level cache
  // suffices for it.
  const bool once =
      room_of(blocks.columns) == count_of(groups.columns) && room_of(blocks.contracted) == count_of(groups.contracted);
  const auto most_rows = once ? rounded_down(limits.columns / 2, table.rows) : limits.rows;
  blocks.rows = box_sides(groups.rows, std::min(most_rows, limits.rows), table.rows, rows);
  return blocks;
}

// The bound must not decrease for smaller matrices.
std::size_t packed_workspace_bytes(const PanelTable& table, DType compute, const PackedSize& size) {
  const auto element = static_cast<std::int64_t>(size_of(compute));
  const auto deepest = size.one_contracted ? limits_of(table, compute, kDeepestPanel).depth : kDeepestBox;
  const auto depth = std::min(size.k, deepest);
  const auto edges = table.rows + table.columns;
  const auto width = std::min(size.m, kMostPackedRows) + std::min(size.n, kMostPackedRows);
  const auto most = std::max(most_of_rows() / element, table.rows * depth) +
                    std::max(most_of_columns() / element, table.columns * depth);
  const auto blocks = std::min(width * depth, most);
  const auto shared_runs = size.one_row_and_column ? 0 : (width + 2 * depth) * std::max(table.rows, table.columns);
  const auto panels = blocks + edges * (depth + 1) + shared_runs;
  return static_cast<std::size_t>(panels * element) +
         static_cast<std::size_t>(width + depth + edges) * 6 * sizeof(std::int64_t) + 1024;
}

void multiply_packed(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                     const ProductOperand& s, const ProductOperand& v, void* result, bool first) {
  CHECK(s.data != nullptr && v.data != nullptr && result != nullptr, "what is multiplied lies in memory");
  PackedProduct(level, compute, factor, groups, s, v, result, first).run();
}

}  // namespace eindb
