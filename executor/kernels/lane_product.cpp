#include "executor/kernels/lane_product.hpp"

#include <algorithm>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/cache_sizes.hpp"
#include "executor/kernels/panel_packer.hpp"
#include "executor/kernels/workspace.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kMostElements = 1024;  // of a transposed matrix
constexpr std::int64_t kMostProducts = 2048;  // rows * columns * contracted
constexpr std::int64_t kDeepestLane = 128;    // contracted indices at a time, if nothing is transposed
constexpr std::int64_t kVectorBytes = 64;     // upper bound
constexpr std::int64_t kMostIndices = 4096;   // of a group

// The position of the loop whose products go into the lanes; the batch's size if there is none.
std::size_t lane_loop(const std::vector<BatchLoop>& batch, std::int64_t lanes) {
  for (std::size_t n = 0; n < batch.size(); ++n)
    if (batch[n].s == 1 && batch[n].v == 1 && batch[n].result == 1 && batch[n].extent >= lanes) return n;
  std::size_t longest = batch.size();
  for (std::size_t n = 0; n < batch.size(); ++n)
    if (batch[n].extent >= lanes && (longest == batch.size() || batch[n].extent > batch[longest].extent)) longest = n;
  return longest;
}

bool is_contiguous(const BatchLoop& loop) { return loop.s == 1 && loop.v == 1 && loop.result == 1; }

// A matrix as a group of its own, row by row; `row_stride` and `column_stride` select the matrix's strides.
IndexGroup matrix_group(const IndexGroup& rows, std::int64_t GroupLoop::*row_stride, const IndexGroup& columns,
                        std::int64_t GroupLoop::*column_stride) {
  IndexGroup group;
  for (const auto& loop : rows) group.push_back({loop.extent, loop.*row_stride, 0});
  for (const auto& loop : columns) group.push_back({loop.extent, loop.*column_stride, 0});
  return group;
}

std::vector<std::int64_t> whole(const IndexGroup& group) {
  std::vector<std::int64_t> sides;
  for (const auto& loop : group) sides.push_back(loop.extent);
  return sides;
}

// One of the three matrices of a product in lanes, during its transposition between memory and a block of vectors.
class LaneMatrix {
 public:
  LaneMatrix(Workspace& workspace, const PanelPacking& packing, std::int64_t size, const IndexGroup& group,
             std::int64_t lane_stride, std::int64_t lanes)
      : packing_(packing),
        size_(size),
        lanes_(lanes),
        count_(count_of(group)),
        offsets_(workspace.take_array<std::int64_t>(static_cast<std::size_t>(count_))),
        order_(workspace.take_array<std::int64_t>(static_cast<std::size_t>(count_))),
        places_(workspace.take_array<std::int64_t>(static_cast<std::size_t>(count_))),
        lane_offsets_(workspace.take_array<std::int64_t>(static_cast<std::size_t>(lanes))),
        block_(workspace.take(static_cast<std::size_t>((count_ + 1) * lanes * size))) {
    GroupBoxes boxes(group, whole(group));
    boxes.list_first(offsets_);
    boxes.order_by_first(order_);
    for (std::int64_t n = 0; n < count_; ++n) places_[n] = order_[n] * lanes;
    for (std::int64_t l = 0; l < lanes; ++l) lane_offsets_[l] = l * lane_stride;
  }

  std::byte* block() const { return block_; }
  // `data` points to the first element of the first lane's matrix.
  void fetch(const void* data) const {
    for_each_run([&](std::int64_t begin, std::int64_t count) {
      prefetch(at(data, begin), count);
      packing_.transpose_runs(block_, places_ + begin, at(data, begin), lane_offsets_, lanes_, count);
    });
  }
  // Prefetches the next lanes' matrices, which are written completely.
  void prefetch(const void* data) const {
    for_each_run([&](std::int64_t begin, std::int64_t count) { prefetch(at(data, begin), count); });
  }
  void write_back(void* data) const {
    for_each_run([&](std::int64_t begin, std::int64_t count) {
      auto* to = static_cast<std::byte*>(data) + offsets_[order_[begin]] * size_;
      packing_.transpose_runs(to, lane_offsets_, block_, places_ + begin, count, lanes_);
    });
  }

 private:
  void prefetch(const void* run, std::int64_t count) const {
    constexpr std::int64_t kLine = 64;
    const auto* next = static_cast<const std::byte*>(run) + lanes_ * lane_offsets_[1] * size_;
    for (std::int64_t l = 0; l < lanes_; ++l)
      for (std::int64_t byte = 0; byte < count * size_; byte += kLine)
        __builtin_prefetch(next + lane_offsets_[l] * size_ + byte);
  }
  const void* at(const void* data, std::int64_t n) const {
    return static_cast<const std::byte*>(data) + offsets_[order_[n]] * size_;
  }
  template <class Body>
  void for_each_run(const Body& body) const {
    for (std::int64_t begin = 0; begin < count_;) {
      auto end = begin + 1;
      while (end < count_ && offsets_[order_[end]] == offsets_[order_[end - 1]] + 1) ++end;
      body(begin, end - begin);
      begin = end;
    }
  }

  const PanelPacking& packing_;
  std::int64_t size_;
  std::int64_t lanes_;
  std::int64_t count_;
  std::int64_t* offsets_;
  std::int64_t* order_;   // the elements' numbers, in memory order
  std::int64_t* places_;  // their positions in the block
  std::int64_t* lane_offsets_;
  std::byte* block_;
};

std::int64_t half_of_first_cache() { return static_cast<std::int64_t>(cache_sizes().first / 2); }

// The size for the block of b.
std::int64_t half_of_second_cache() {
  return static_cast<std::int64_t>(std::min(cache_sizes().second / 2, Workspace::most() / 4));
}

// Multiplies large matrices with a contiguous batch, one vector of products at a time. Vectors that are far apart in
// memory would compete for few cache sets, so blocks of them are copied to contiguous memory. A tile's rows of a stay
// in the first-level cache, a block of b in the second.
class LaneBlocks {
 public:
  LaneBlocks(Workspace& workspace, const ElementTable& table, const PanelPacking& packing, std::int64_t size,
             const LaneProduct& whole)
      : table_(table.vectors),
        packing_(packing),
        size_(size),
        whole_(whole),
        depth_(std::clamp<std::int64_t>(half_of_first_cache() / (table_.lane_rows * vector_bytes()), 1,
                                        std::min(kDeepestLane, whole.depth))),
        columns_(std::clamp(half_of_second_cache() / (depth_ * vector_bytes()) / table_.lane_columns, std::int64_t{1},
                            (whole.columns + table_.lane_columns - 1) / table_.lane_columns) *
                 table_.lane_columns),
        a_(workspace.take(static_cast<std::size_t>(table_.lane_rows * depth_ * vector_bytes()))),
        b_(workspace.take(static_cast<std::size_t>(columns_ * depth_ * vector_bytes()))),
        a_rows_(multiples(workspace, table_.lane_rows, 1)),
        a_depth_(multiples(workspace, depth_, table_.lane_rows)),
        b_columns_(multiples(workspace, columns_, 1)),
        b_depth_(multiples(workspace, depth_, table_.lane_columns)) {
    // Panels have as many columns as a tile.
    for (std::int64_t j = 0; j < columns_; ++j)
      b_columns_[j] = (j / table_.lane_columns * table_.lane_columns * depth_ + j % table_.lane_columns) * table_.lanes;
  }

  static std::size_t bytes() {
    return static_cast<std::size_t>(half_of_first_cache() + half_of_second_cache()) +
           static_cast<std::size_t>(16 * kDeepestLane) * kVectorBytes;
  }

  void multiply(const void* a, const void* b, void* c) const {
    for (std::int64_t p = 0; p < whole_.depth; p += depth_) {
      for (std::int64_t j = 0; j < whole_.columns; j += columns_) {
        auto part = whole_;
        part.depth = std::min(depth_, whole_.depth - p);
        part.columns = std::min(columns_, whole_.columns - j);
        part.a_rows = a_rows_;
        part.a_depth = a_depth_;
        part.b_columns = b_columns_;
        part.b_depth = b_depth_;
        part.c_columns = whole_.c_columns + j;
        part.add = whole_.add || p > 0;
        for (std::int64_t q = 0; q < part.columns; ++q)
          copy(b_, b_columns_[q], table_.lane_columns, b, whole_.b_columns[j + q], whole_.b_depth + p, part.depth);
        multiply_rows(part, p, a, c);
      }
    }
  }

 private:
  std::int64_t vector_bytes() const { return table_.lanes * size_; }
  // Offsets 0, 1, 2, ... times the given number of vectors.
  std::int64_t* multiples(Workspace& workspace, std::int64_t count, std::int64_t vectors) const {
    auto* offsets = workspace.take_array<std::int64_t>(static_cast<std::size_t>(count));
    for (std::int64_t n = 0; n < count; ++n) offsets[n] = n * vectors * table_.lanes;
    return offsets;
  }
  void copy(std::byte* block, std::int64_t place, std::int64_t step, const void* from, std::int64_t begin,
            const std::int64_t* offsets, std::int64_t count) const {
    packing_.copy_runs(block + place * size_, step * table_.lanes, static_cast<const std::byte*>(from) + begin * size_,
                       offsets, count, table_.lanes);
  }
  void multiply_rows(LaneProduct& part, std::int64_t p, const void* a, void* c) const {
    for (std::int64_t i = 0; i < whole_.rows; i += table_.lane_rows) {
      part.rows = std::min(table_.lane_rows, whole_.rows - i);
      part.c_rows = whole_.c_rows + i;
      for (std::int64_t r = 0; r < part.rows; ++r)
        copy(a_, a_rows_[r], table_.lane_rows, a, whole_.a_rows[i + r], whole_.a_depth + p, part.depth);
      table_.multiply_lanes(part, a_, b_, c);
      poll_cancellation();
    }
  }

  const VectorTable& table_;
  const PanelPacking& packing_;
  std::int64_t size_;
  const LaneProduct& whole_;
  std::int64_t depth_;
  std::int64_t columns_;
  std::byte* a_;
  std::byte* b_;
  std::int64_t* a_rows_;
  std::int64_t* a_depth_;
  std::int64_t* b_columns_;
  std::int64_t* b_depth_;
};

// Iterates over the batch's other loops. The remainder of the lanes' loop uses the packed product.
class LaneBatch {
 public:
  LaneBatch(const LevelTable& level, DType compute, double factor, const ProductGroups& groups, const ProductOperand& s,
            const ProductOperand& v, void* result, bool first)
      : level_(level),
        compute_(compute),
        factor_(factor),
        groups_(groups),
        s_(s),
        v_(v),
        result_(static_cast<std::byte*>(result)),
        first_(first),
        size_(static_cast<std::int64_t>(size_of(compute))),
        lanes_(level.of(compute).vectors.lanes),
        place_(lane_loop(groups.batch, lanes_)),
        loop_(groups.batch[place_]),
        blocks_(loop_.extent / lanes_) {}

  void run() {
    if (is_contiguous(loop_)) run_in_place();
    else run_transposed();
    run_rest();
  }

 private:
  std::size_t needed_bytes() const {
    return lane_workspace_bytes(count_of(groups_.rows), count_of(groups_.columns), count_of(groups_.contracted));
  }

  template <class Body>
  void for_each_block(const Body& body) const {
    for_each_block(0, 0, 0, 0, body);
  }
  template <class Body>
  void for_each_block(std::size_t n, std::int64_t s, std::int64_t v, std::int64_t result, const Body& body) const {
    if (n == groups_.batch.size()) {
      body(static_cast<const std::byte*>(s_.data) + s * size_, static_cast<const std::byte*>(v_.data) + v * size_,
           result_ + result * size_);
      if (++done_ % kBlocksPerPoll == 0) poll_cancellation();
      return;
    }
    const auto& loop = groups_.batch[n];
    const auto step = n == place_ ? lanes_ : 1;
    const auto count = n == place_ ? blocks_ : loop.extent;
    for (std::int64_t i = 0; i < count; ++i)
      for_each_block(n + 1, s + i * step * loop.s, v + i * step * loop.v, result + i * step * loop.result, body);
  }

  void run_in_place() {
    Workspace workspace(needed_bytes());
    const auto list = [&](const IndexGroup& group, auto member) {
      auto* offsets = workspace.take_array<std::int64_t>(static_cast<std::size_t>(count_of(group)));
      const GroupBoxes boxes(group, whole(group));
      (boxes.*member)(offsets);
      return offsets;
    };
    const LaneProduct product{.rows = count_of(groups_.rows),
                              .columns = count_of(groups_.columns),
                              .depth = count_of(groups_.contracted),
                              .a_rows = list(groups_.rows, &GroupBoxes::list_first),
                              .a_depth = list(groups_.contracted, &GroupBoxes::list_first),
                              .b_columns = list(groups_.columns, &GroupBoxes::list_first),
                              .b_depth = list(groups_.contracted, &GroupBoxes::list_second),
                              .c_rows = list(groups_.rows, &GroupBoxes::list_second),
                              .c_columns = list(groups_.columns, &GroupBoxes::list_second),
                              .factor = factor_,
                              .add = !first_};
    const auto& table = level_.of(compute_);
    // Vectors read by only one tile are not copied.
    if (product.depth <= kDeepestLane && product.rows <= table.vectors.lane_rows &&
        product.columns <= table.vectors.lane_columns) {
      const auto multiply = table.vectors.multiply_lanes;
      return for_each_block([&](const void* s, const void* v, void* result) { multiply(product, s, v, result); });
    }
    const LaneBlocks blocks(workspace, table, table.panels.packing[slot_of(compute_)], size_, product);
    for_each_block([&](const void* s, const void* v, void* result) { blocks.multiply(s, v, result); });
  }

  void run_transposed() {
    Workspace workspace(needed_bytes());
    const auto rows = count_of(groups_.rows);
    const auto columns = count_of(groups_.columns);
    const auto depth = count_of(groups_.contracted);
    const auto& packing = level_.of(compute_).panels.packing[slot_of(compute_)];
    const LaneMatrix a(workspace, packing, size_,
                       matrix_group(groups_.rows, &GroupLoop::first, groups_.contracted, &GroupLoop::first), loop_.s,
                       lanes_);
    const LaneMatrix b(workspace, packing, size_,
                       matrix_group(groups_.contracted, &GroupLoop::second, groups_.columns, &GroupLoop::first),
                       loop_.v, lanes_);
    const LaneMatrix c(workspace, packing, size_,
                       matrix_group(groups_.rows, &GroupLoop::second, groups_.columns, &GroupLoop::second),
                       loop_.result, lanes_);
    const auto every = [&](std::int64_t count, std::int64_t step) {
      auto* offsets = workspace.take_array<std::int64_t>(static_cast<std::size_t>(count));
      for (std::int64_t n = 0; n < count; ++n) offsets[n] = n * step * lanes_;
      return offsets;
    };
    const LaneProduct product{.rows = rows,
                              .columns = columns,
                              .depth = depth,
                              .a_rows = every(rows, depth),
                              .a_depth = every(depth, 1),
                              .b_columns = every(columns, 1),
                              .b_depth = every(depth, columns),
                              .c_rows = every(rows, columns),
                              .c_columns = every(columns, 1),
                              .factor = factor_,
                              .add = !first_};
    for_each_block([&](const void* s, const void* v, void* result) {
      a.fetch(s);
      b.fetch(v);
      if (first_) c.prefetch(result);
      else c.fetch(result);
      level_.of(compute_).vectors.multiply_lanes(product, a.block(), b.block(), c.block());
      c.write_back(result);
    });
  }

  void run_rest() const {
    const auto done = blocks_ * lanes_;
    if (done == loop_.extent) return;
    auto rest = groups_;
    rest.batch[place_].extent -= done;
    multiply_packed(level_, compute_, factor_, rest,
                    {s_.dtype, static_cast<const std::byte*>(s_.data) + done * loop_.s * size_},
                    {v_.dtype, static_cast<const std::byte*>(v_.data) + done * loop_.v * size_},
                    result_ + done * loop_.result * size_, first_);
  }

  const LevelTable& level_;
  DType compute_;
  double factor_;
  const ProductGroups& groups_;
  const ProductOperand& s_;
  const ProductOperand& v_;
  std::byte* result_;
  bool first_;
  std::int64_t size_;
  std::int64_t lanes_;
  std::size_t place_;
  const BatchLoop& loop_;
  std::int64_t blocks_;
  static constexpr unsigned kBlocksPerPoll = 256;
  mutable unsigned done_ = 0;
};

}  // namespace

bool is_lane_product(const LevelTable& level, DType compute, const ProductGroups& groups, const ProductOperand& s,
                     const ProductOperand& v) {
  const auto& table = level.of(compute).vectors;
  if (!s.is_plain(compute) || !v.is_plain(compute) || table.multiply_lanes == nullptr) return false;
  const auto place = lane_loop(groups.batch, table.lanes);
  if (place == groups.batch.size()) return false;
  const auto rows = count_of(groups.rows);
  const auto columns = count_of(groups.columns);
  const auto depth = count_of(groups.contracted);
  if (is_contiguous(groups.batch[place])) return std::max({rows, columns, depth}) <= kMostIndices;
  return std::max({rows * columns, columns * depth, rows * depth}) <= kMostElements &&
         rows * columns * depth <= kMostProducts;
}

void multiply_lanes(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                    const ProductOperand& s, const ProductOperand& v, void* result, bool first) {
  CHECK(lane_loop(groups.batch, level.of(compute).vectors.lanes) < groups.batch.size(),
        "a loop of the batch fills the lanes");
  LaneBatch(level, compute, factor, groups, s, v, result, first).run();
}

// Three offsets and a vector per transposed element, two offsets per index, and blocks of matrices that are not
// transposed.
std::size_t lane_workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto matrix = [](std::int64_t rows, std::int64_t columns) {
    return std::min(kMostElements, std::min(rows, kMostElements) * std::min(columns, kMostElements));
  };
  const auto elements = matrix(m, n) + matrix(n, k) + matrix(m, k);
  const auto indices = std::min(m, kMostIndices) + std::min(n, kMostIndices) + std::min(k, kMostIndices);
  return static_cast<std::size_t>(elements * (3 + 16) + 3 * indices + 3 * 16 * 16) * 8 + 4096 + LaneBlocks::bytes();
}

}  // namespace eindb
