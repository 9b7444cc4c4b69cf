#include "executor/kernels/matrix_product.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "common/checked_math.hpp"
#include "executor/kernels/scratch.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {
namespace {

using Places = std::vector<std::size_t>;
using Sizes = std::span<const std::int64_t>;
using Strides = std::vector<std::int64_t>;

Places by_stride(Places places, const Strides& strides) {
  std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return strides[a] > strides[b]; });
  return places;
}

std::int64_t count_of(const Places& places, Sizes sizes) {
  std::int64_t count = 1;
  for (const auto p : places) count = checked_multiply(count, sizes[p]);
  return count;
}

// The stride of a group of labels as one dimension; nullopt if they do not nest in this order. A group of one index
// has a stride that does not matter.
std::optional<std::int64_t> fused(const Places& order, Sizes sizes, const Strides& strides) {
  if (order.empty()) return 1;
  for (std::size_t n = 0; n + 1 < order.size(); ++n)
    if (strides[order[n]] != strides[order[n + 1]] * sizes[order[n + 1]]) return std::nullopt;
  return strides[order.back()];
}

// A matrix of two groups of labels, if it can be used where it lies.
struct Layout {
  std::int64_t row_stride;
  std::int64_t column_stride;
};
std::optional<Layout> layout_in_place(const Places& rows, const Places& columns, Sizes sizes, const Strides& strides) {
  const auto row = fused(rows, sizes, strides);
  const auto column = fused(columns, sizes, strides);
  if (!row || !column) return std::nullopt;
  // A single row or column: its own stride is free, so let it be the leading dimension of the other.
  if (rows.empty() && columns.empty()) return Layout{1, 1};
  if (rows.empty() && *column == 1) return Layout{count_of(columns, sizes), 1};
  if (columns.empty() && *row == 1) return Layout{1, count_of(rows, sizes)};
  if (rows.empty()) return Layout{1, *column};
  if (columns.empty()) return Layout{*row, 1};
  if (*row != 1 && *column != 1) return std::nullopt;
  return Layout{*row, *column};
}

// The order of the labels within each group.
struct Order {
  Places m;
  Places n;
  Places k;
};

class MatrixProduct {
 public:
  MatrixProduct(const LevelTable& level, DType compute, double factor, const MatrixLabels& labels, Sizes sizes,
                const LabelView& a, const LabelView& b, const MutableLabelView& c, bool first)
      : level_(level),
        compute_(compute),
        factor_(factor),
        labels_(labels),
        sizes_(sizes),
        a_(a),
        b_(b),
        c_(c),
        first_(first) {}

  void run() const {
    const auto order = cheapest_order();
    const auto a = ready(a_, order.m, order.k);
    const auto b = ready(b_, order.k, order.n);
    const auto in_place = layout_in_place(order.m, order.n, sizes_, c_.strides);
    if (in_place) {
      if (first_) fill_zero(c_, concatenated({labels_.batch, order.m, order.n}));
      multiply(a, b, c_, *in_place, order);
      return;
    }
    const auto places = packing_order(c_.strides, order.m, order.n);
    const auto scratch = Scratch(static_cast<std::size_t>(count_of(places, sizes_)) * size_of(compute_));
    const MutableLabelView packed{compute_, scratch.data(), packed_strides(places)};
    if (first_) fill_zero(packed, places);
    else copy(packed, {c_.dtype, c_.data, c_.strides}, places);
    multiply(a, b, packed, *layout_in_place(order.m, order.n, sizes_, packed.strides), order);
    copy(c_, {packed.dtype, packed.data, packed.strides}, places);
  }

 private:
  // An operand as matrices, with the memory that it was packed into.
  struct Ready {
    LabelView view;
    Layout layout;
    std::shared_ptr<Scratch> memory;
  };

  static Places concatenated(std::initializer_list<Places> lists) {
    Places all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
  }

  // Bytes moved in packing what does not lie as a matrix; the result goes there and back.
  std::int64_t packed_bytes(const Order& order) const {
    const auto batch = count_of(labels_.batch, sizes_);
    const auto m = count_of(order.m, sizes_);
    const auto n = count_of(order.n, sizes_);
    const auto k = count_of(order.k, sizes_);
    std::int64_t elements = 0;
    if (!usable(a_, order.m, order.k)) elements += m * k;
    if (!usable(b_, order.k, order.n)) elements += k * n;
    if (!layout_in_place(order.m, order.n, sizes_, c_.strides)) elements += m * n * (first_ ? 1 : 2);
    return elements * batch;
  }

  bool usable(const LabelView& view, const Places& rows, const Places& columns) const {
    return view.dtype == compute_ && layout_in_place(rows, columns, sizes_, view.strides).has_value();
  }

  Order cheapest_order() const {
    Order best;
    auto best_bytes = std::numeric_limits<std::int64_t>::max();
    for (unsigned choice = 0; choice < 8; ++choice) {
      Order order{by_stride(labels_.m, (choice & 1U) != 0 ? c_.strides : a_.strides),
                  by_stride(labels_.n, (choice & 2U) != 0 ? c_.strides : b_.strides),
                  by_stride(labels_.k, (choice & 4U) != 0 ? b_.strides : a_.strides)};
      const auto bytes = packed_bytes(order);
      if (bytes >= best_bytes) continue;
      best_bytes = bytes;
      best = std::move(order);
    }
    return best;
  }

  // Batches outside; of the two dimensions, the one with the contiguous label inside, so that packing reads and
  // writes along it.
  Places packing_order(const Strides& strides, const Places& rows, const Places& columns) const {
    const auto nearest = [&](const Places& places) {
      auto least = std::numeric_limits<std::int64_t>::max();
      for (const auto p : places) least = std::min(least, strides[p]);
      return least;
    };
    const auto batch = by_stride(labels_.batch, strides);
    return nearest(rows) < nearest(columns) ? concatenated({batch, columns, rows})
                                            : concatenated({batch, rows, columns});
  }

  Strides packed_strides(const Places& places) const {
    Strides strides(sizes_.size(), 0);
    std::int64_t stride = 1;
    for (auto p = places.rbegin(); p != places.rend(); ++p) {
      strides[*p] = stride;
      stride *= sizes_[*p];
    }
    return strides;
  }

  Ready ready(const LabelView& view, const Places& rows, const Places& columns) const {
    if (usable(view, rows, columns)) return {view, *layout_in_place(rows, columns, sizes_, view.strides), nullptr};
    const auto places = packing_order(view.strides, rows, columns);
    auto memory = std::make_shared<Scratch>(static_cast<std::size_t>(count_of(places, sizes_)) * size_of(compute_));
    const MutableLabelView packed{compute_, memory->data(), packed_strides(places)};
    copy(packed, view, places);
    return {{compute_, packed.data, packed.strides}, *layout_in_place(rows, columns, sizes_, packed.strides), memory};
  }

  void copy(const MutableLabelView& to, const LabelView& from, const Places& places) const {
    Strides target;
    Strides source;
    Strides extents;
    for (const auto p : places) {
      target.push_back(to.strides[p]);
      source.push_back(from.strides[p]);
      extents.push_back(sizes_[p]);
    }
    copy_strided(level_, {to.dtype, to.data, target}, {from.dtype, from.data, source}, extents);
  }

  void fill_zero(const MutableLabelView& view, const Places& places) const {
    std::memset(view.data, 0, static_cast<std::size_t>(count_of(places, sizes_)) * size_of(compute_));
  }

  void multiply(const Ready& a, const Ready& b, const MutableLabelView& c, const Layout& layout,
                const Order& order) const {
    const auto m = count_of(order.m, sizes_);
    const auto n = count_of(order.n, sizes_);
    const auto k = count_of(order.k, sizes_);
    const auto size = static_cast<std::int64_t>(size_of(compute_));
    alignas(16) std::array<std::byte, 16> alpha{};
    level_.of(compute_).move[slot_of(DType::Float64)]({alpha.data(), 0, 1}, {&factor_, 0, 1}, 1, 1);
    Strides index(labels_.batch.size(), 0);
    Strides extents;
    for (const auto p : labels_.batch) extents.push_back(sizes_[p]);
    do {
      std::array<std::int64_t, 3> offset{};
      for (std::size_t d = 0; d < index.size(); ++d) {
        const auto p = labels_.batch[d];
        offset[0] += index[d] * a.view.strides[p];
        offset[1] += index[d] * b.view.strides[p];
        offset[2] += index[d] * c.strides[p];
      }
      level_.of(compute_).gemm(
          m, n, k, alpha.data(),
          {static_cast<const std::byte*>(a.view.data) + offset[0] * size, a.layout.row_stride, a.layout.column_stride},
          {static_cast<const std::byte*>(b.view.data) + offset[1] * size, b.layout.row_stride, b.layout.column_stride},
          {static_cast<std::byte*>(c.data) + offset[2] * size, layout.row_stride, layout.column_stride});
    } while (next_index(index, extents));
  }

  const LevelTable& level_;
  DType compute_;
  double factor_;
  const MatrixLabels& labels_;
  Sizes sizes_;
  const LabelView& a_;
  const LabelView& b_;
  const MutableLabelView& c_;
  bool first_;
};

}  // namespace

void multiply_matrices(const LevelTable& level, DType compute, double factor, const MatrixLabels& labels,
                       std::span<const std::int64_t> sizes, const LabelView& a, const LabelView& b,
                       const MutableLabelView& c, bool first) {
  MatrixLabels wide;
  const auto drop_single = [&](const Places& from, Places& to) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(to), [&](auto p) { return sizes[p] != 1; });
  };
  drop_single(labels.batch, wide.batch);
  drop_single(labels.m, wide.m);
  drop_single(labels.n, wide.n);
  drop_single(labels.k, wide.k);
  MatrixProduct(level, compute, factor, wide, sizes, a, b, c, first).run();
}

}  // namespace eindb
