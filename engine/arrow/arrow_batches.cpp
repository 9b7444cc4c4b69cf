#include "engine/arrow/arrow_batches.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "engine/arrow/column_builder.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

void check_batch(std::int64_t rows) {
  if (rows < 1) throw Error(ErrorKind::Value, "a batch has one row at least");
}

// ---- Rows of SQL ---------------------------------------------------------------------------------------------------

/// SQLite's values have types of their own, so that a column whose type nothing says has that of the rows of the first
/// batch.
class RowBatches final : public ArrowBatchSource {
 public:
  RowBatches(Result result, std::int64_t rows_per_batch) : result_(std::move(result)), most_(rows_per_batch) {}

  ArrowField schema() override {
    read_first();
    ArrowField row{"", "+s"};
    for (const auto& column : builders_) row.children.push_back(column.field());
    return row;
  }

  std::optional<ArrowValues> next() override {
    read_first();
    if (first_.empty() && !read(first_)) return std::nullopt;
    const auto rows = std::exchange(first_, {});
    ArrowValues out{.length = static_cast<std::int64_t>(rows.size()), .null_count = 0, .buffers = {{}}};
    for (std::size_t c = 0; c < builders_.size(); ++c) {
      for (const auto& row : rows) builders_[c].add(row[c]);
      out.children.push_back(builders_[c].take());
    }
    return out;
  }

 private:
  bool read(std::vector<Row>& rows) {
    Row row;
    while (result_.rows != nullptr && std::cmp_less(rows.size(), most_)) {
      if (result_.rows->next(row)) rows.push_back(row);
      else result_.rows.reset();
    }
    return !rows.empty();
  }

  void read_first() {
    if (std::exchange(is_begun_, true)) return;
    read(first_);
    for (std::size_t c = 0; c < result_.columns.size(); ++c)
      builders_.emplace_back(result_.columns[c].name, layout_of(c));
  }

  ArrowLayout layout_of(std::size_t c) const {
    switch (result_.columns[c].type) {
      case ColumnType::Integer: return found_layout(c, ArrowLayout::Int64);
      case ColumnType::Float32: return found_layout(c, ArrowLayout::Float32);
      case ColumnType::Float64: return found_layout(c, ArrowLayout::Float64);
      case ColumnType::Complex64: return ArrowLayout::Complex64;
      case ColumnType::Complex128: return ArrowLayout::Complex128;
      case ColumnType::Text: return found_layout(c, ArrowLayout::Text);
      case ColumnType::Boolean: return ArrowLayout::Bool;
      case ColumnType::Blob: return ArrowLayout::Bytes;
      case ColumnType::Any: break;
    }
    return found_layout(c, ArrowLayout::Null);
  }

  /// That of the column's type, unless the first rows have others, as SQLite allows.
  ArrowLayout found_layout(std::size_t c, ArrowLayout declared) const {
    auto layout = declared;
    for (const auto& row : first_) layout = joined(layout, row[c]);
    return layout;
  }

  static ArrowLayout joined(ArrowLayout layout, const Cell& cell) {
    if (std::holds_alternative<std::monostate>(cell)) return layout;
    if (std::holds_alternative<std::vector<std::byte>>(cell)) return ArrowLayout::Bytes;
    if (const auto* text = std::get_if<std::string>(&cell)) {
      const bool is_bytes = layout == ArrowLayout::Bytes || !is_utf8(*text);
      return is_bytes ? ArrowLayout::Bytes : ArrowLayout::Text;
    }
    const bool is_integer = std::holds_alternative<std::int64_t>(cell);
    if (layout == ArrowLayout::Null) return is_integer ? ArrowLayout::Int64 : ArrowLayout::Float64;
    if (layout == ArrowLayout::Int64 && !is_integer) return ArrowLayout::Float64;
    return layout;
  }

  Result result_;
  std::int64_t most_;
  bool is_begun_ = false;
  std::vector<Row> first_;  // rows that were read before the schema was known
  std::vector<ColumnBuilder> builders_;
};

// ---- Tensors -------------------------------------------------------------------------------------------------------

/// Cells as rows: labels, which are counted, and `val`, which lies in the memory of the tensor where its strips do.
class TensorBatches final : public ArrowBatchSource {
 public:
  TensorBatches(TensorStrips strips, std::int64_t rows_per_batch) : strips_(std::move(strips)), most_(rows_per_batch) {
    const auto& tensor = strips_.tensor();
    for (std::size_t d = 0; d < tensor.labels.size(); ++d)
      layouts_.push_back(layout_of_label(tensor.names.at(d).get()));
    index_.resize(tensor.labels.size());
  }

  ArrowField schema() override {
    const auto& tensor = strips_.tensor();
    ArrowField row{"", "+s"};
    for (std::size_t d = 0; d < layouts_.size(); ++d)
      row.children.push_back(arrow_field(tensor.labels[d], layouts_[d], false));
    row.children.push_back(arrow_field("val", layout_of_values(), false));
    return row;
  }

  std::optional<ArrowValues> next() override {
    while (strip_ == nullptr || at_ == strip_->shape().element_count()) {
      strip_ = strips_.next();
      at_ = 0;
      if (strip_ == nullptr) return std::nullopt;
    }
    const auto count = std::min(most_, strip_->shape().element_count() - at_);
    ArrowValues out{.length = count, .null_count = 0, .buffers = {{}}, .children = labels(count)};
    const auto size = size_of(strip_->dtype());
    const ArrowBytes values{strip_->bytes().data() + static_cast<std::size_t>(at_) * size, strip_,
                            count * static_cast<std::int64_t>(size)};
    if (is_complex(strip_->dtype()))
      out.children.push_back({.length = count,
                              .null_count = 0,
                              .buffers = {{}},
                              .children = {{.length = 2 * count, .null_count = 0, .buffers = {{}, values}}}});
    else out.children.push_back({.length = count, .null_count = 0, .buffers = {{}, values}});
    at_ += count;
    return out;
  }

 private:
  static ArrowLayout layout_of_label(const IndexNames* names) {
    if (names == nullptr) return ArrowLayout::Int64;
    if (!names->is_calendar()) return ArrowLayout::Text;
    return names->first().size() == 10 ? ArrowLayout::Day : ArrowLayout::Moment;
  }

  ArrowLayout layout_of_values() const {
    switch (strips_.tensor().dtype) {
      case DType::Float32: return ArrowLayout::Float32;
      case DType::Float64: return ArrowLayout::Float64;
      case DType::Complex64: return ArrowLayout::Complex64;
      case DType::Complex128: return ArrowLayout::Complex128;
      case DType::Int64: break;
    }
    return ArrowLayout::Int64;
  }

  std::vector<ArrowValues> labels(std::int64_t count) {
    const auto& tensor = strips_.tensor();
    std::vector<ColumnBuilder> columns;
    for (std::size_t d = 0; d < layouts_.size(); ++d) columns.emplace_back(tensor.labels[d], layouts_[d]);
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::size_t d = 0; d < layouts_.size(); ++d) {
        const auto& names = tensor.names.at(d);
        columns[d].add(names == nullptr ? Cell{index_[d]} : Cell{names->name(index_[d])});
      }
      next_index(index_, tensor.grid.shape().extents());
    }
    std::vector<ArrowValues> out;
    for (auto& column : columns) out.push_back(column.take());
    return out;
  }

  TensorStrips strips_;
  std::int64_t most_;
  std::vector<ArrowLayout> layouts_;  // of the labels
  std::vector<std::int64_t> index_;   // of the next cell
  TilePtr strip_;
  std::int64_t at_ = 0;  // in the strip
};

}  // namespace

std::unique_ptr<ArrowBatchSource> row_batches(Result result, std::int64_t rows_per_batch) {
  check_batch(rows_per_batch);
  return std::make_unique<RowBatches>(std::move(result), rows_per_batch);
}

std::unique_ptr<ArrowBatchSource> tensor_batches(TensorStrips strips, std::int64_t rows_per_batch) {
  check_batch(rows_per_batch);
  return std::make_unique<TensorBatches>(std::move(strips), rows_per_batch);
}

}  // namespace eindb
