#include "engine/results/rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "common/check.hpp"

namespace eindb {
namespace {

ColumnType column_type(DType type) {
  switch (type) {
    case DType::Float32: return ColumnType::Float32;
    case DType::Float64: return ColumnType::Float64;
    case DType::Complex64: return ColumnType::Complex64;
    case DType::Complex128: return ColumnType::Complex128;
    case DType::Int64: return ColumnType::Integer;
  }
  return ColumnType::Any;
}

class TensorRows final : public RowSource {
 public:
  explicit TensorRows(std::shared_ptr<const TensorRelation> tensor)
      : tensor_(std::move(tensor)), index_(tensor_->grid.rank(), 0), left_(tensor_->grid.shape().element_count()) {
    CHECK(tensor_->tiles != nullptr && tensor_->tiles->grid() == tensor_->grid,
          "a result has a tile for each place of its grid");
  }

  bool next_nonzero(Row& row) override {
    for (; left_ > 0; leave(1)) {
      if (run_left_ == 0) find_run();
      while (tile_ == nullptr && left_ > 0) {
        leave(run_left_);
        if (left_ > 0) find_run();
      }
      if (left_ > 0 && !is_plus_zero()) return next(row);
    }
    return false;
  }

  bool next(Row& row) override {
    if (left_ == 0) return false;
    if (run_left_ == 0) find_run();
    const auto rank = index_.size();
    row.resize(rank + 1);
    for (std::size_t d = 0; d < rank; ++d) row[d] = index_[d];
    if (!tensor_->names.empty()) name_indices(row);
    row[rank] = value();
    leave(1);
    return true;
  }

 private:
  // Goes on by so many cells of the current run.
  void leave(std::int64_t cells) {
    offset_ += cells;
    run_left_ -= cells;
    left_ -= cells;
    if (index_.empty()) return;
    index_.back() += cells - 1;
    next_index(index_, tensor_->grid.shape().extents());
  }

  bool is_plus_zero() const {
    return dispatch(tensor_->dtype, [&](auto t) {
      using T = typename decltype(t)::type;
      constexpr std::array<std::byte, sizeof(T)> kZero{};
      return std::memcmp(static_cast<const void*>(tile_->data<T>() + offset_), kZero.data(), sizeof(T)) == 0;
    });
  }

  // Finds the tile of the current cell, and how many cells of the last dimension follow in it.
  void find_run() {
    const auto& grid = tensor_->grid;
    TileKey key(index_.size());
    for (std::size_t d = 0; d < key.size(); ++d) key[d] = grid.part_at(d, index_[d]);
    tile_ = tensor_->tile(grid.id_of(key));
    offset_ = 0;
    run_left_ = 1;
    for (std::size_t d = 0; d < key.size(); ++d) {
      const auto range = grid.range(d, key[d]);
      offset_ = offset_ * range.size + (index_[d] - range.begin);
      run_left_ = range.end() - index_[d];
    }
    DCHECK(run_left_ > 0, "a cell that is left lies in a tile");
    DCHECK(tile_ == nullptr || tile_->shape() == grid.tile_shape(key), "a tile has the shape of its place in the grid");
  }

  void name_indices(Row& row) const {
    for (std::size_t d = 0; d < index_.size(); ++d)
      if (const auto names = tensor_->names.at(d)) row[d] = names->name(index_[d]);
  }

  Cell value() const {
    DCHECK(tile_ == nullptr || offset_ < tile_->shape().element_count(), "a cell that is left lies in its tile");
    return dispatch(tensor_->dtype, [&](auto t) -> Cell {
      using T = typename decltype(t)::type;
      return tile_ == nullptr ? T(0) : tile_->data<T>()[offset_];
    });
  }

  std::shared_ptr<const TensorRelation> tensor_;
  std::vector<std::int64_t> index_;
  std::int64_t left_;
  TilePtr tile_;
  std::int64_t offset_ = 0;
  std::int64_t run_left_ = 0;
};

class SeveralRows final : public RowSource {
 public:
  explicit SeveralRows(std::vector<std::shared_ptr<const TensorRelation>> tensors) : tensors_(std::move(tensors)) {}

  bool next(Row& row) override {
    while (rows_ == nullptr || !rows_->next(cell_)) {
      if (next_ == tensors_.size()) return false;
      rows_ = tensor_rows(tensors_[next_++]);
    }
    DCHECK(next_ > 0 && !cell_.empty(), "a row is one of a tensor that was begun");
    row = {tensors_[next_ - 1]->name, key(), cell_.back()};
    return true;
  }

 private:
  std::string key() const {
    std::string text = "(";
    for (std::size_t d = 0; d + 1 < cell_.size(); ++d) {
      const auto* name = std::get_if<std::string>(&cell_[d]);
      text += (d == 0 ? "" : ",") + (name != nullptr ? *name : std::to_string(std::get<std::int64_t>(cell_[d])));
    }
    return text + ")";
  }

  std::vector<std::shared_ptr<const TensorRelation>> tensors_;
  std::size_t next_ = 0;
  std::unique_ptr<RowSource> rows_;  // of the current tensor
  Row cell_;
};

class ListedRows final : public RowSource {
 public:
  explicit ListedRows(std::vector<Row> rows) : rows_(std::move(rows)) {}

  bool next(Row& row) override {
    if (position_ == rows_.size()) return false;
    row = rows_[position_++];
    return true;
  }

 private:
  std::vector<Row> rows_;
  std::size_t position_ = 0;
};

}  // namespace

std::vector<Column> tensor_columns(const std::vector<std::string>& labels, const DimensionNames& names, DType dtype) {
  std::vector<Column> columns;
  columns.reserve(labels.size() + 1);
  for (std::size_t d = 0; d < labels.size(); ++d)
    columns.push_back({labels[d], names.at(d) == nullptr ? ColumnType::Integer : ColumnType::Text});
  columns.push_back({"val", column_type(dtype)});
  return columns;
}

std::unique_ptr<RowSource> tensor_rows(std::shared_ptr<const TensorRelation> tensor) {
  return std::make_unique<TensorRows>(std::move(tensor));
}

std::vector<Column> several_columns(const std::vector<DType>& dtypes) {
  CHECK(!dtypes.empty(), "several tensors are one at least");
  const bool same = std::adjacent_find(dtypes.begin(), dtypes.end(), std::not_equal_to<>()) == dtypes.end();
  return {{"tensor", ColumnType::Text},
          {"key", ColumnType::Text},
          {"val", same ? column_type(dtypes.front()) : ColumnType::Any}};
}

std::unique_ptr<RowSource> several_rows(std::vector<std::shared_ptr<const TensorRelation>> tensors) {
  return std::make_unique<SeveralRows>(std::move(tensors));
}

std::unique_ptr<RowSource> listed_rows(std::vector<Row> rows) { return std::make_unique<ListedRows>(std::move(rows)); }

Result listed_result(std::vector<Column> columns, std::vector<Row> rows) {
  DCHECK(std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return row.size() == columns.size(); }),
         "a listed row has a cell for each column");
  Result result;
  result.columns = std::move(columns);
  result.rows = listed_rows(std::move(rows));
  return result;
}

Result status_result(std::string status) {
  Result result;
  result.status = std::move(status);
  return result;
}

}  // namespace eindb
