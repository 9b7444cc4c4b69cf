#include "executor/kernels/strided_product.hpp"

#include <algorithm>
#include <numeric>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/cache_sizes.hpp"
#include "executor/kernels/workspace.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kDeepest = 512;                         // contracted indices at a time
constexpr std::int64_t kDeepInPlace = 64;                      // enough for a tile to be worth its writes
constexpr std::int64_t kPackedAtATime = 1024;                  // bytes of many tiny matrices
constexpr std::int64_t kFetchAhead = 2048;                     // bytes
constexpr std::int64_t kWorkPerPoll = std::int64_t{1} << 22U;  // multiply-adds: a few tenths of a millisecond at worst
constexpr std::int64_t kPageBytes = 4096;

std::int64_t first_cache() { return static_cast<std::int64_t>(cache_sizes().first); }
std::int64_t second_cache() { return static_cast<std::int64_t>(cache_sizes().second); }

// Half of the second-level cache, but no more than the workspace of kernels.
std::int64_t most_of_v() {
  return std::min(second_cache() / 2,
                  static_cast<std::int64_t>(std::min(Workspace::most() / 4, std::size_t{1} << 30U)));
}

std::int64_t rounded_up(std::int64_t a, std::int64_t unit) { return (a + unit - 1) / unit * unit; }

bool is_one_loop(const IndexGroup& group) { return group.size() == 1; }

// The loop whose matrices are passed to one call of the inner loop: the innermost of sufficient length, else the
// longest.
std::size_t inner_loop(const std::vector<BatchLoop>& batch) {
  constexpr std::int64_t kLong = 16;
  std::size_t inner = 0;
  for (std::size_t n = 0; n < batch.size(); ++n)
    if (batch[n].extent >= std::min(kLong, batch[inner].extent)) inner = n;
  return inner;
}

// Cache lines of a tile's rows at a distance of a multiple of half a page compete for few sets of the first-level
// cache.
bool suits_cache(const GroupLoop& rows, const GroupLoop& contracted, std::int64_t size) {
  constexpr std::int64_t kLine = 64;
  if (contracted.first == 1)
    return contracted.extent * size <= kLine || std::gcd(rows.first * size, kPageBytes) < kPageBytes / 2;
  return rows.first == 1 && std::min(kDeepest, contracted.extent) * contracted.first * size <= second_cache() / 2;
}

class StridedMatrices {
 public:
  StridedMatrices(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                  const ProductOperand& s, const ProductOperand& v, void* result, bool first)
      : table_(level.of(compute)),
        packing_(table_.panels.packing[slot_of(compute)]),
        groups_(groups),
        rows_(groups.rows.front()),
        columns_(groups.columns.front()),
        contracted_(groups.contracted.front()),
        s_(static_cast<const std::byte*>(s.data)),
        v_(static_cast<const std::byte*>(v.data)),
        result_(static_cast<std::byte*>(result)),
        first_(first),
        size_(static_cast<std::int64_t>(size_of(compute))),
        inner_(inner_loop(groups.batch)),
        loop_(groups.batch.empty() ? BatchLoop{} : groups.batch[inner_]),
        v_in_place_(columns_.first == 1 && std::min(kDeepInPlace, contracted_.extent) <= most_in_place()),
        depth_(std::min({kDeepest, contracted_.extent, v_in_place_ ? most_in_place() : kDeepest})),
        matrices_(matrices_at_a_time()),
        workspace_(v_in_place_ ? 0 : needed_bytes()),
        product_{.batch = matrices_,
                 .rows = rows_.extent,
                 .columns = columns_.extent,
                 .depth = depth_,
                 .a_batch = loop_.s,
                 .a_row = rows_.first,
                 .a_depth = contracted_.first,
                 .b_batch = loop_.v,
                 .b_depth = contracted_.second,
                 .b_panel = table_.panels.columns,
                 .c_batch = loop_.result,
                 .c_row = rows_.second,
                 .ahead = std::max<std::int64_t>(0, kFetchAhead / (rows_.extent * columns_.extent * size_)),
                 .factor = factor,
                 .add = !first} {
    if (!v_in_place_) prepare_block();
  }

  void run() { run_batch(0, 0, 0, 0); }

 private:
  // The number of contiguous rows of v in half of the first-level cache.
  std::int64_t most_in_place() const { return first_cache() / 2 / (contracted_.second * size_); }
  // Tiny matrices are packed next to each other, so that their columns form whole vectors when they are transposed.
  bool side_by_side() const { return columns_.extent <= table_.panels.columns; }

  std::int64_t matrices_at_a_time() const {
    const auto work = rows_.extent * columns_.extent * depth_;
    auto most = std::max<std::int64_t>(1, kWorkPerPoll / work);
    if (depth_ < contracted_.extent) return 1;
    if (!v_in_place_) most = side_by_side() ? std::min(most, kPackedAtATime / (depth_ * columns_.extent * size_)) : 1;
    return std::clamp<std::int64_t>(most, 1, loop_.extent);
  }
  std::int64_t block_width() const {
    return side_by_side() ? matrices_ * columns_.extent : rounded_up(columns_.extent, table_.panels.columns);
  }
  std::size_t needed_bytes() const {
    const auto offsets = matrices_ * columns_.extent + 2 * depth_;
    return static_cast<std::size_t>(block_width() * depth_ * size_ + 4 * 64 + offsets * 8);
  }

  // A panel, or the columns of several matrices, contiguously: row p is row_width_ * p after the first.
  void prepare_block() {
    CHECK(matrices_ > 0 && depth_ > 0 && block_width() > 0, "a block has room for a matrix, or a panel of one");
    row_width_ = side_by_side() ? block_width() : table_.panels.columns;
    block_ = workspace_.take(static_cast<std::size_t>(block_width() * depth_ * size_));
    column_offsets_ = workspace_.take_array<std::int64_t>(static_cast<std::size_t>(matrices_ * columns_.extent));
    depth_offsets_ = workspace_.take_array<std::int64_t>(static_cast<std::size_t>(depth_));
    block_rows_ = workspace_.take_array<std::int64_t>(static_cast<std::size_t>(depth_));
    for (std::int64_t n = 0; n < matrices_ * columns_.extent; ++n)
      column_offsets_[n] = n / columns_.extent * loop_.v + n % columns_.extent * columns_.first;
    for (std::int64_t p = 0; p < depth_; ++p) {
      depth_offsets_[p] = p * contracted_.second;
      block_rows_[p] = p * row_width_;
    }
    if (matrices_ > 1) v_ahead_ = 2 * matrices_ * loop_.v;
    product_.b_batch = columns_.extent;
    product_.b_depth = row_width_;
    product_.b_panel = row_width_ * depth_;
  }

  void run_batch(std::size_t n, std::int64_t s, std::int64_t v, std::int64_t result) {
    while (n == inner_ && n < groups_.batch.size()) ++n;
    if (n >= groups_.batch.size()) return run_inner(s, v, result);
    const auto& loop = groups_.batch[n];
    for (std::int64_t i = 0; i < loop.extent; ++i)
      run_batch(n + 1, s + i * loop.s, v + i * loop.v, result + i * loop.result);
  }

  void run_inner(std::int64_t s, std::int64_t v, std::int64_t result) {
    for (std::int64_t n = 0; n < loop_.extent; n += matrices_) {
      product_.batch = std::min(matrices_, loop_.extent - n);
      multiply(s_ + (s + n * loop_.s) * size_, v_ + (v + n * loop_.v) * size_,
               result_ + (result + n * loop_.result) * size_);
    }
  }

  void pack(const std::byte* v) {
    const auto width = product_.batch * columns_.extent;
    const auto step = side_by_side() ? width : row_width_;
    for (std::int64_t j = 0; j < width; j += step) {
      const auto* offsets = column_offsets_ + j;
      const auto count = std::min(step, width - j);
      auto* panel = block_ + j * depth_ * size_;
      if (contracted_.second == 1) {
        for (std::int64_t n = 0; n < count; ++n) __builtin_prefetch(v + (offsets[n] + v_ahead_) * size_);
        packing_.transpose_runs(panel, block_rows_, v, offsets, count, product_.depth);
      } else if (columns_.first == 1 && product_.batch == 1)
        packing_.copy_runs(panel, row_width_, v + offsets[0] * size_, depth_offsets_, product_.depth, count);
      else packing_.gather(panel, row_width_, v, offsets, depth_offsets_, count, product_.depth);
    }
  }

  // Processes deep matrices some contracted indices at a time, and matrices of many rows some rows at a time. If
  // nothing is packed, the rows are so few that their results stay in the second-level cache.
  void multiply(const std::byte* s, const std::byte* v, std::byte* result) {
    const auto rows =
        v_in_place_ ? std::max(second_cache() / 4 / (columns_.extent * size_), table_.panels.rows) : rows_.extent;
    for (std::int64_t i = 0; i < rows_.extent; i += rows) {
      for (std::int64_t p = 0; p < contracted_.extent; p += depth_) {
        product_.depth = std::min(depth_, contracted_.extent - p);
        product_.add = !first_ || p > 0;
        const auto* part = v + p * contracted_.second * size_;
        if (!v_in_place_) pack(part);
        multiply_rows(i, std::min(rows_.extent, i + rows), s + p * contracted_.first * size_,
                      v_in_place_ ? part : block_, result);
      }
    }
  }

  void multiply_rows(std::int64_t begin, std::int64_t end, const std::byte* s, const std::byte* v, std::byte* result) {
    const auto work = product_.batch * columns_.extent * product_.depth;
    const auto most = rounded_up(std::max<std::int64_t>(1, kWorkPerPoll / work), table_.panels.rows);
    for (std::int64_t i = begin; i < end; i += most) {
      product_.rows = std::min(most, end - i);
      table_.vectors.multiply_strided(product_, s + i * rows_.first * size_, v, result + i * rows_.second * size_);
      poll(product_.rows * work);
    }
  }

  void poll(std::int64_t work) {
    work_ += work;
    if (work_ < kWorkPerPoll) return;
    work_ = 0;
    poll_cancellation();
  }

  const ElementTable& table_;
  const PanelPacking& packing_;
  const ProductGroups& groups_;
  const GroupLoop& rows_;
  const GroupLoop& columns_;
  const GroupLoop& contracted_;
  const std::byte* s_;
  const std::byte* v_;
  std::byte* result_;
  bool first_;
  std::int64_t size_;
  std::size_t inner_;
  BatchLoop loop_;
  bool v_in_place_;
  std::int64_t depth_;     // processed at a time
  std::int64_t matrices_;  // processed at a time
  Workspace workspace_;
  StridedProduct product_;
  std::byte* block_ = nullptr;
  std::int64_t row_width_ = 0;
  std::int64_t v_ahead_ = 0;  // prefetch distance for v in elements
  std::int64_t* column_offsets_ = nullptr;
  std::int64_t* depth_offsets_ = nullptr;
  std::int64_t* block_rows_ = nullptr;
  std::int64_t work_ = 0;
};

}  // namespace

bool is_strided_product(const LevelTable& level, DType compute, const ProductGroups& groups, const ProductOperand& s,
                        const ProductOperand& v) {
  const auto& table = level.of(compute);
  if (!s.is_plain(compute) || !v.is_plain(compute) || table.vectors.multiply_strided == nullptr) return false;
  if (!is_one_loop(groups.rows) || !is_one_loop(groups.columns) || !is_one_loop(groups.contracted)) return false;
  const auto& columns = groups.columns.front();
  const auto& contracted = groups.contracted.front();
  const auto size = static_cast<std::int64_t>(size_of(compute));
  const auto width = rounded_up(columns.extent, table.panels.columns);
  return columns.second == 1 && width <= most_of_v() / (std::min(kDeepest, contracted.extent) * size) &&
         suits_cache(groups.rows.front(), contracted, size);
}

void multiply_strided(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                      const ProductOperand& s, const ProductOperand& v, void* result, bool first) {
  CHECK(is_one_loop(groups.rows) && is_one_loop(groups.columns) && is_one_loop(groups.contracted),
        "matrices that are read where they lie have one loop to a side");
  StridedMatrices(level, compute, factor, groups, s, v, result, first).run();
}

std::size_t strided_workspace_bytes(const PanelTable& table, DType compute, const PackedSize& size) {
  const auto element = static_cast<std::int64_t>(size_of(compute));
  const auto depth = std::min(size.k, kDeepest);
  const auto columns = rounded_up(std::max(size.m, size.n), table.columns);
  const auto block = std::max(std::min(most_of_v(), columns * depth * element), kPackedAtATime);
  const auto offsets = std::max(std::min(columns, most_of_v() / element), kPackedAtATime / element) + 2 * depth;
  return static_cast<std::size_t>(block + offsets * 8) + 1024;
}

}  // namespace eindb
