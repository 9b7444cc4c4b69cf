#include "engine/files/arrow_import.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/arrow/arrow_column.hpp"
#include "engine/arrow/ipc_reader.hpp"
#include "engine/files/load_rows.hpp"
#include "storage/files/input_file.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kArrowCellsPerCheck = 4096;
constexpr std::size_t kMostArrowLabels = 64;  // dimensions of a stored tensor

/// The values that a type has when they are those of a new tensor.
DType arrow_dtype(const ArrowType& type) {
  switch (type.kind) {
    case ArrowKind::Float: return type.size == 8 ? DType::Float64 : DType::Float32;
    case ArrowKind::Decimal: return type.per_unit == 1 ? DType::Int64 : DType::Float64;
    case ArrowKind::Bool:
    case ArrowKind::Signed:
    case ArrowKind::Unsigned: return DType::Int64;
    case ArrowKind::List:
      if (type.list_size == 2 && type.parts.front().kind == ArrowKind::Float)
        return type.parts.front().size == 8 ? DType::Complex128 : DType::Complex64;
      break;
    default: break;
  }
  throw Error(ErrorKind::Type, "Arrow's column '" + type.name + "' has no numbers", std::nullopt,
              "the column val has the values of a tensor, and the others are its labels");
}

/// The cells of a file's batches, one after the other.
class ArrowCells final : public CellSource {
 public:
  ArrowCells(const FilePath& path, const std::optional<TensorInfo>& existing, std::int64_t memory_limit,
             const Cancellation& cancellation)
      : file_(path), memory_limit_(memory_limit), cancellation_(cancellation) {
    begin();
    find_columns(existing);
    value_type_ = existing ? existing->dtype : arrow_dtype(type_.parts[value_]);
    if (existing) {
      names_ = existing->names;
      shape_ = existing->shape();
    } else {
      measure();
    }
  }

  DType dtype() const override { return value_type_; }
  const Shape& shape() const override { return shape_; }
  std::vector<std::string> labels() const override {
    std::vector<std::string> out;
    for (const auto column : keys_) out.push_back(type_.parts[column].name);
    return out;
  }
  std::string place(std::int64_t line) const override { return file_.path() + ", row " + std::to_string(line); }

  bool next(KeyedCell& cell) override {
    if (!advance()) return false;
    cell.line = row_in_file_;
    cell.key.resize(keys_.size());
    for (std::size_t d = 0; d < keys_.size(); ++d) cell.key[d] = index(d);
    cell.value = number();
    return true;
  }

 private:
  void begin() {
    reader_.emplace(file_, memory_limit_);
    type_ = arrow_type(reader_->schema());
    table_.reset();
    batch_.reset();
    row_in_file_ = 0;
  }

  /// Goes to the next row; false after the last.
  bool advance() {
    ++row_;
    while (!table_ || row_ >= table_->length()) {
      table_.reset();
      batch_ = reader_->next();
      if (!batch_) return false;
      table_.emplace(type_, *batch_);
      row_ = 0;
    }
    if (++row_in_file_ % kArrowCellsPerCheck == 0) cancellation_.check();
    return true;
  }

  void find_columns(const std::optional<TensorInfo>& existing) {
    const auto names = arrow_columns(type_);
    if (names.empty()) throw Error(ErrorKind::Value, file_.path() + " has no columns");
    const auto named = [&](const std::string& wanted) {
      return static_cast<std::size_t>(
          std::find_if(names.begin(), names.end(),
                       [&](const std::string& name) { return equal_ignoring_case(name, wanted); }) -
          names.begin());
    };
    value_ = named("val") < names.size() ? named("val") : names.size() - 1;
    for (std::size_t n = 0; n < names.size(); ++n)
      if (n != value_) keys_.push_back(n);
    if (!existing) return check_rank(keys_.size());
    if (keys_.size() != existing->labels.size())
      throw Error(ErrorKind::Shape, file_.path() + " has " + std::to_string(keys_.size()) + " columns beside '" +
                                        names[value_] + "', and tensor " + existing->name + " " +
                                        std::to_string(existing->labels.size()) + " dimensions");
    std::vector<std::size_t> by_name;
    for (const auto& label : existing->labels)
      if (const auto found = named(label); found < names.size() && found != value_) by_name.push_back(found);
    if (by_name.size() == keys_.size()) keys_ = by_name;
  }

  void check_rank(std::size_t rank) const {
    if (rank > kMostArrowLabels)
      throw Error(ErrorKind::Unsupported,
                  file_.path() + " has more than " + std::to_string(kMostArrowLabels) + " labels");
  }

  /// The greatest index of each column of a new tensor, and one.
  void measure() {
    std::vector<std::int64_t> extents(keys_.size(), 0);
    while (advance())
      for (std::size_t d = 0; d < keys_.size(); ++d) extents[d] = std::max(extents[d], checked_add(index(d), 1));
    shape_ = Shape(std::move(extents));
    begin();
  }

  [[noreturn]] void fail(std::size_t column, const std::string& what, const std::string& hint) const {
    throw Error(ErrorKind::Value, place(row_in_file_) + ": column '" + type_.parts[column].name + "' " + what,
                std::nullopt, hint);
  }

  std::int64_t index(std::size_t dimension) {
    const auto column = keys_[dimension];
    const auto cell = table_->parts()[column].cell(row_);
    const auto* integer = std::get_if<std::int64_t>(&cell);
    const auto names = names_.at(dimension);
    if (names == nullptr) {
      if (integer != nullptr && *integer >= 0) return *integer;
      fail(column, integer != nullptr ? "has the index " + std::to_string(*integer) : "has no integer",
           "texts are names of a tensor that is there: CREATE TENSOR X (city IN ('Oslo', 'Bergen'))");
    }
    const auto* text = std::get_if<std::string>(&cell);
    const auto found =
        text == nullptr ? (integer == nullptr ? -1 : names->find(std::to_string(*integer))) : names->find(*text);
    if (found >= 0) return found;
    fail(column, text == nullptr ? "has no text" : "has '" + text->substr(0, 80) + "', which is none of the names",
         "ALTER TENSOR ... EXTEND adds others");
  }

  CellValue number() {
    const auto& column = table_->parts()[value_];
    if (column.type().kind == ArrowKind::List) return complex_number(column);
    const auto cell = column.cell(row_);
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (std::holds_alternative<std::monostate>(cell) && value_type_ != DType::Int64)
      return std::numeric_limits<double>::quiet_NaN();
    fail(value_, "has no number", "integers have no NaN: fill what is missing");
  }

  CellValue complex_number(const ArrowColumn& column) const {
    const auto& parts = column.parts().front();
    const auto part = [&](std::int64_t n) {
      const auto cell = parts.cell(2 * row_ + n);
      const auto* real = std::get_if<double>(&cell);
      return real == nullptr ? std::numeric_limits<double>::quiet_NaN() : *real;
    };
    return std::complex<double>(part(0), part(1));
  }

  InputFile file_;
  std::int64_t memory_limit_;
  const Cancellation& cancellation_;
  std::optional<ArrowIpcReader> reader_;
  ArrowType type_;
  std::vector<std::size_t> keys_;  // columns of the labels
  std::size_t value_ = 0;
  DType value_type_ = DType::Float64;
  Shape shape_;
  DimensionNames names_;
  std::optional<ArrowValues> batch_;
  std::optional<ArrowColumn> table_;  // points into type_ and batch_
  std::int64_t row_ = 0;              // in the batch
  std::int64_t row_in_file_ = 0;      // from 1
};

}  // namespace

std::unique_ptr<CellSource> open_arrow_cells(const FilePath& path, const std::optional<TensorInfo>& existing,
                                             std::int64_t memory_limit, const Cancellation& cancellation) {
  return std::make_unique<ArrowCells>(path, existing, memory_limit, cancellation);
}

void import_arrow_rows(const FilePath& path, const std::string& table, SessionState& session) {
  const InputFile file(path);
  ArrowIpcReader reader(file, session.user.settings.memory_limit());
  const auto columns = arrow_columns(arrow_type(reader.schema()));
  const auto loader = load_rows({.schema = {}, .name = table, .columns = columns}, session);
  load_batches(reader, *loader);
  loader->finish();
}

}  // namespace eindb
