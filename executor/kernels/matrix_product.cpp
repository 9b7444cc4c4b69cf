#include "executor/kernels/matrix_product.hpp"

#include <algorithm>
#include <limits>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/byte_product.hpp"
#include "executor/kernels/lane_product.hpp"
#include "executor/kernels/packed_product.hpp"
#include "executor/kernels/strided_product.hpp"
#include "executor/kernels/vector_product.hpp"
#include "executor/kernels/workspace.hpp"

namespace eindb {
namespace {

using Places = std::vector<std::size_t>;
using Strides = std::vector<std::int64_t>;

std::int64_t nearest(const Places& places, const Strides& strides) {
  auto least = std::numeric_limits<std::int64_t>::max();
  for (const auto p : places) least = std::min(least, strides[p]);
  return least;
}

bool has_unit_stride(const Places& places, const Strides& strides) { return nearest(places, strides) == 1; }

IndexGroup group_of(const Places& places, std::span<const std::int64_t> sizes, const Strides& first,
                    const Strides& second) {
  IndexGroup group;
  for (const auto p : places) group.push_back({sizes[p], first[p], second[p]});
  return group;
}

// The result's contiguous label is among the columns, which are sorted by the result's strides. Contracted labels are
// sorted by the strides of the larger operand. Rows are sorted by those of s, to read it in order, unless the result is
// clearly larger: then rows that are written together are neighbours there. Example: in degb,gfac->abcdef s is the
// first operand, in which b is contiguous. 14 rows e lie in one piece of the result, 14 rows b far apart, in as many
// pages.
constexpr std::int64_t kClearlyLarger = 2;  // measured with results of 6 to 90 MB

ProductGroups groups_of(const MatrixLabels& labels, std::span<const std::int64_t> sizes, const LabelView& s,
                        const LabelView& v, const MutableLabelView& result) {
  ProductGroups groups;
  for (const auto p : labels.batch) groups.batch.push_back({sizes[p], s.strides[p], v.strides[p], result.strides[p]});
  std::stable_sort(groups.batch.begin(), groups.batch.end(),
                   [](const auto& a, const auto& b) { return a.result > b.result; });
  const auto rows = group_of(labels.m, sizes, s.strides, result.strides);
  groups.columns = sorted_by_second(group_of(labels.n, sizes, v.strides, result.strides));
  const auto contracted = group_of(labels.k, sizes, s.strides, v.strides);
  const bool by_result = count_of(groups.columns) > kClearlyLarger * count_of(contracted);
  groups.rows = has_unit_stride(labels.m, s.strides) && !by_result ? sorted_by_first(rows) : sorted_by_second(rows);
  groups.contracted =
      count_of(groups.rows) > count_of(groups.columns) ? sorted_by_first(contracted) : sorted_by_second(contracted);
  return groups;
}

OrientedProduct product_of(const MatrixLabels& labels, std::span<const std::int64_t> sizes, const LabelView& a,
                           const LabelView& b, const MutableLabelView& c) {
  CHECK(a.strides.size() == sizes.size() && b.strides.size() == sizes.size() && c.strides.size() == sizes.size(),
        "matrices have a stride for every label");
  MatrixLabels wide;
  const auto drop_single = [&](const Places& from, Places& to) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(to), [&](auto p) { return sizes[p] != 1; });
  };
  drop_single(labels.batch, wide.batch);
  drop_single(labels.m, wide.m);
  drop_single(labels.n, wide.n);
  drop_single(labels.k, wide.k);
  const bool flipped = nearest(wide.m, c.strides) < nearest(wide.n, c.strides);
  if (flipped) std::swap(wide.m, wide.n);
  const auto& s = flipped ? b : a;
  const auto& v = flipped ? a : b;
  return {groups_of(wide, sizes, s, v, c), {s.dtype, s.data, s.encoding}, {v.dtype, v.data, v.encoding}, flipped};
}

}  // namespace

void multiply_matrices(const LevelTable& level, DType compute, double factor, const MatrixLabels& labels,
                       std::span<const std::int64_t> sizes, const LabelView& a, const LabelView& b,
                       const MutableLabelView& c, bool first) {
  ProductPlan(level, compute, labels, sizes, a, b, c).multiply(factor, a.data, b.data, c.data, first);
}

ProductPlan::ProductPlan(const LevelTable& level, DType compute, const MatrixLabels& labels,
                         std::span<const std::int64_t> sizes, const LabelView& a, const LabelView& b,
                         const MutableLabelView& c)
    : level_(&level),
      compute_(compute),
      product_(product_of(labels, sizes, a, b, c)),
      way_(way_of(level, compute, product_)) {
  product_.s.data = product_.v.data = nullptr;
}

ProductPlan::Way ProductPlan::way_of(const LevelTable& level, DType compute, const OrientedProduct& p) {
  if (is_strided_product(level, compute, p.groups, p.s, p.v)) return {"in place", multiply_strided};
  if (is_lane_product(level, compute, p.groups, p.s, p.v)) return {"in lanes", multiply_lanes};
  if (is_vector_product(level, compute, p.groups, p.s, p.v)) return {"by vector", multiply_vector};
  return {"packed", multiply_packed};
}

void ProductPlan::multiply(double factor, const void* a, const void* b, void* c, bool first) const {
  auto s = product_.s;
  auto v = product_.v;
  s.data = product_.flipped ? b : a;
  v.data = product_.flipped ? a : b;
  way_.multiply(*level_, compute_, factor, product_.groups, s, v, c, first);
}

bool ProductPlan::reads_encoded() const { return way_.multiply == multiply_vector; }

bool multiplies_as_bytes(const MatrixLabels& labels, std::span<const std::int64_t> sizes, const LabelView& a,
                         const LabelView& b, const MutableLabelView& c) {
  return is_byte_product(product_of(labels, sizes, a, b, c).groups);
}

void multiply_as_bytes(const LevelTable& level, double factor, const MatrixLabels& labels,
                       std::span<const std::int64_t> sizes, const LabelView& a, const LabelView& b,
                       const MutableLabelView& c, bool first) {
  CHECK(c.dtype == DType::Int64, "products of bytes are of INT64");
  const auto p = product_of(labels, sizes, a, b, c);
  multiply_bytes(level, factor, p.groups, p.s, p.v, static_cast<std::int64_t*>(c.data), first);
}

// The maximum over all paths, since the path depends on strides, and may differ for slightly smaller sizes.
std::size_t product_workspace_bytes(const LevelTable& level, DType compute, const MatrixLabels& labels,
                                    std::span<const std::int64_t> sizes) {
  const auto count = [&](const Places& places) {
    std::int64_t all = 1;
    for (const auto p : places) all = checked_multiply(all, sizes[p]);
    return all;
  };
  const PackedSize size{.m = count(labels.m),
                        .n = count(labels.n),
                        .k = count(labels.k),
                        .one_row_and_column = labels.m.size() <= 1 && labels.n.size() <= 1,
                        .one_contracted = labels.k.size() <= 1};
  auto bytes = packed_workspace_bytes(level.of(compute).panels, compute, size);
  bytes = std::max(bytes, strided_workspace_bytes(level.of(compute).panels, compute, size));
  if (!labels.batch.empty()) bytes = std::max(bytes, lane_workspace_bytes(size.m, size.n, size.k));
  // With two rows, a smaller product may have one.
  if (std::min(size.m, size.n) <= 2) bytes = std::max(bytes, vector_workspace_bytes());
  return Workspace::allocated(bytes);
}

}  // namespace eindb
