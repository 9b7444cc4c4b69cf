#include "executor/kernels/pair_matrices.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {

PairGroups pair_groups(const std::vector<ContractionRole>& roles, const std::vector<std::int64_t>& sizes,
                       const std::vector<std::int64_t>& left, const std::vector<std::int64_t>& result) {
  CHECK(roles.size() == sizes.size(), "each label of a pair of operands has its role");
  PairGroups groups;
  for (std::size_t n = 0; n < roles.size(); ++n) {
    if (sizes[n] == 1) continue;
    switch (roles[n]) {
      case ContractionRole::Batch: groups.batch.push_back(n); break;
      case ContractionRole::Left: groups.rows.push_back(n); break;
      case ContractionRole::Right: groups.columns.push_back(n); break;
      default: groups.depth.push_back(n); break;
    }
  }
  const auto by_strides_of = [](PairGroups::Places& places, const std::vector<std::int64_t>& strides) {
    std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return strides[a] > strides[b]; });
  };
  by_strides_of(groups.rows, result);
  by_strides_of(groups.columns, result);
  by_strides_of(groups.depth, left);
  return groups;
}

PairMatrices::PairMatrices(const LevelTable& level, DType compute, const PairGroups& groups, const Strides& sizes,
                           bool converts)
    : level_(level),
      compute_(compute),
      groups_(groups),
      sizes_(sizes),
      converts_(converts),
      rows_(count(groups.rows)),
      columns_(count(groups.columns)),
      depth_(count(groups.depth)),
      batch_(count(groups.batch)) {}

PairMatrix PairMatrices::beside_result(const LabelView& view) const {
  if (view.dtype == compute_)
    if (auto matrix = in_place(view, groups_.rows, groups_.columns)) return *std::move(matrix);
  auto matrix = scratch(compute_, groups_.rows, groups_.columns);
  copy(view_of(matrix, groups_.rows, groups_.columns), view, places(groups_.rows, groups_.columns));
  return matrix;
}

PairMatrix PairMatrices::result(const MutableLabelView& view, bool first) const {
  if (view.dtype == compute_)
    if (auto matrix = in_place(view, groups_.rows, groups_.columns)) return *std::move(matrix);
  auto matrix = scratch(compute_, groups_.rows, groups_.columns);
  if (!first)
    copy(view_of(matrix, groups_.rows, groups_.columns), {view.dtype, view.data, view.strides},
         places(groups_.rows, groups_.columns));
  return matrix;
}

void PairMatrices::write_result(const MutableLabelView& view, const PairMatrix& result) const {
  if (result.memory == nullptr) return;
  const auto from = view_of(result, groups_.rows, groups_.columns);
  copy(view, {from.dtype, from.data, from.strides}, places(groups_.rows, groups_.columns));
}

std::int64_t PairMatrices::copied_bytes(const LabelView& left, const LabelView& right) const {
  std::int64_t bytes = 0;
  if (!lies_in_place(left, groups_.rows)) bytes += bytes_of(compute_, groups_.rows, groups_.depth);
  if (!lies_in_place(right, groups_.columns)) bytes += bytes_of(compute_, groups_.columns, groups_.depth);
  return bytes;
}

std::int64_t PairMatrices::copied_bytes(const MutableLabelView& result) const {
  const bool lies_in_place = result.dtype == compute_ && in_place(result, groups_.rows, groups_.columns);
  return lies_in_place ? 0 : bytes_of(compute_, groups_.rows, groups_.columns);
}

std::byte* PairMatrices::at(const PairMatrix& matrix, std::int64_t batch) const {
  std::int64_t offset = 0;
  for (std::size_t n = groups_.batch.size(); n-- > 0;) {
    offset += batch % sizes_[groups_.batch[n]] * matrix.batch[n];
    batch /= sizes_[groups_.batch[n]];
  }
  return matrix.data + offset * static_cast<std::int64_t>(size_of(matrix.dtype));
}

std::int64_t PairMatrices::count(const Places& places) const {
  std::int64_t count = 1;
  for (const auto p : places) count = checked_multiply(count, sizes_[p]);
  return count;
}

// The stride of a group of labels as one dimension, the last label innermost; nullopt if they do not nest.
std::optional<std::int64_t> PairMatrices::fused(const Places& order, const Strides& strides) const {
  if (order.empty()) return 0;
  for (std::size_t n = 0; n + 1 < order.size(); ++n)
    if (strides[order[n]] != strides[order[n + 1]] * sizes_[order[n + 1]]) return std::nullopt;
  return strides[order.back()];
}

template <class View>
std::optional<PairMatrix> PairMatrices::in_place(const View& view, const Places& rows, const Places& columns) const {
  const auto row = fused(rows, view.strides);
  const auto column = fused(columns, view.strides);
  if (!row || !column) return std::nullopt;
  PairMatrix matrix{view.dtype, static_cast<std::byte*>(const_cast<void*>(view.data)), *row, *column, {}, nullptr};
  for (const auto p : groups_.batch) matrix.batch.push_back(view.strides[p]);
  return matrix;
}

std::int64_t PairMatrices::bytes_of(DType dtype, const Places& rows, const Places& columns) const {
  return checked_multiply(checked_multiply(checked_multiply(count(columns), count(rows)), batch_),
                          static_cast<std::int64_t>(size_of(dtype)));
}

// A row-major matrix with the batch outermost.
PairMatrix PairMatrices::scratch(DType dtype, const Places& rows, const Places& columns) const {
  const auto width = count(columns);
  const auto height = count(rows);
  PairMatrix matrix{dtype,
                    nullptr,
                    width,
                    1,
                    Strides(groups_.batch.size()),
                    std::make_shared<Scratch>(static_cast<std::size_t>(bytes_of(dtype, rows, columns)))};
  matrix.data = matrix.memory->data();
  auto stride = width * height;
  for (std::size_t n = groups_.batch.size(); n-- > 0; stride *= sizes_[groups_.batch[n]]) matrix.batch[n] = stride;
  return matrix;
}

bool PairMatrices::lies_in_place(const LabelView& operand, const Places& rows) const {
  const bool may = operand.dtype == compute_ || (!converts_ && !is_complex(operand.dtype));
  return may && in_place(operand, rows, groups_.depth);
}

PairMatrix PairMatrices::operand(const LabelView& view, const Places& rows) const {
  if (lies_in_place(view, rows)) return *in_place(view, rows, groups_.depth);
  auto matrix = scratch(compute_, rows, groups_.depth);
  copy(view_of(matrix, rows, groups_.depth), view, places(rows, groups_.depth));
  return matrix;
}

PairMatrices::Places PairMatrices::places(const Places& rows, const Places& columns) const {
  Places all = groups_.batch;
  all.insert(all.end(), rows.begin(), rows.end());
  all.insert(all.end(), columns.begin(), columns.end());
  return all;
}

MutableLabelView PairMatrices::view_of(const PairMatrix& matrix, const Places& rows, const Places& columns) const {
  MutableLabelView view{matrix.dtype, matrix.data, Strides(sizes_.size(), 0)};
  const auto place = [&](const Places& group, std::int64_t stride) {
    for (auto p = group.rbegin(); p != group.rend(); ++p) {
      view.strides[*p] = stride;
      stride *= sizes_[*p];
    }
  };
  place(rows, matrix.row_stride);
  place(columns, matrix.column_stride);
  for (std::size_t n = 0; n < groups_.batch.size(); ++n) view.strides[groups_.batch[n]] = matrix.batch[n];
  return view;
}

void PairMatrices::copy(const MutableLabelView& to, const LabelView& from, const Places& places) const {
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

}  // namespace eindb
