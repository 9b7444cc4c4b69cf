#include "engine/files/cell_import.hpp"

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/cells/cell_loader.hpp"
#include "storage/formats/coordinate_reader.hpp"
#include "storage/formats/matrix_market_reader.hpp"
#include "storage/formats/scipy_reader.hpp"

namespace eindb {
namespace {

/// Cells between two reports of progress.
constexpr std::int64_t kCellsPerReport = 65536;

/// Reads a matrix of one column as a vector.
class ColumnCells final : public CellSource {
 public:
  explicit ColumnCells(std::unique_ptr<CellSource> matrix) : matrix_(std::move(matrix)), shape_({matrix_->shape()[0]}) {
    CHECK(matrix_->shape().rank() == 2 && matrix_->shape()[1] == 1, "a matrix of one column fills a vector");
  }

  DType dtype() const override { return matrix_->dtype(); }
  StoredType type() const override { return matrix_->type(); }
  const Shape& shape() const override { return shape_; }
  std::int64_t base() const override { return matrix_->base(); }
  bool has_distinct_keys() const override { return matrix_->has_distinct_keys(); }
  std::string remedy_for_duplicates() const override { return matrix_->remedy_for_duplicates(); }
  bool next(KeyedCell& cell) override {
    if (!matrix_->next(cell)) return false;
    CHECK(cell.key.size() == 2, "a cell of a matrix has a row and a column");
    cell.key.resize(1);
    return true;
  }
  std::string place(std::int64_t line) const override { return matrix_->place(line); }
  std::int64_t done() const override { return matrix_->done(); }
  std::int64_t total() const override { return matrix_->total(); }

 private:
  std::unique_ptr<CellSource> matrix_;
  Shape shape_;
};

/// A matrix by itself, or as the vector that it is to fill.
std::unique_ptr<CellSource> as_wanted(std::unique_ptr<CellSource> matrix, const std::optional<TensorInfo>& existing) {
  const bool as_vector = existing && existing->grid.rank() == 1 && matrix->shape()[1] == 1;
  if (as_vector) return std::make_unique<ColumnCells>(std::move(matrix));
  return matrix;
}

[[noreturn]] void shapes_differ(const std::string& what, const Shape& shape, const TensorInfo& tensor) {
  throw Error(ErrorKind::Shape,
              what + " has shape " + shape.to_string() + ", but tensor " + tensor.name + " has shape " +
                  tensor.shape().to_string(),
              std::nullopt, "copy it into a new tensor");
}

}  // namespace

std::unique_ptr<CellSource> open_cell_list(const FilePath& path, const CopyOptions& options,
                                           const std::optional<TensorInfo>& existing,
                                           const Cancellation& cancellation) {
  if (existing && options.shape && *options.shape != existing->shape())
    shapes_differ("the option", *options.shape, *existing);
  if (options.format == FileFormat::Mtx || options.format == FileFormat::Scipy) {
    std::unique_ptr<CellSource> file;
    if (options.format == FileFormat::Mtx) file = std::make_unique<MatrixMarketReader>(path);
    else file = std::make_unique<ScipyReader>(path, cancellation);
    auto matrix = as_wanted(std::move(file), existing);
    if (existing && matrix->shape() != existing->shape()) shapes_differ(path.text(), matrix->shape(), *existing);
    return matrix;
  }
  const auto list = options.format == FileFormat::Tns
                        ? frostt_options()
                        : CoordinateOptions{.delimiter = options.csv.delimiter,
                                            .header = options.csv.header,
                                            .base = options.cells.base,
                                            .names = existing ? existing->names : DimensionNames()};
  auto shape = existing ? std::optional(existing->shape()) : options.shape;
  const auto type = existing ? std::optional(existing->dtype) : std::nullopt;
  return std::make_unique<CoordinateReader>(path, list, std::move(shape), type, cancellation);
}

CopyOptions options_for_file(const FilePath& path, CopyOptions options) {
  const bool may_be = options.format == FileFormat::Npz && options.array.name.empty();
  if (!may_be || !holds_scipy_matrix(InputFile(path))) return options;
  if (options.shape)
    throw Error(ErrorKind::Value, path.text() + " holds a sparse matrix of SciPy, which is read in its own shape",
                std::nullopt, "leave out SHAPE; labels in parentheses read a dimension as several: X[(i,j),k]");
  options.format = FileFormat::Scipy;
  options.cells.chosen = true;
  return options;
}

void load_cells(CellSource& cells, const TensorInfo& tensor, OpenDatabase& database, const Settings& settings,
                const StatementContext& statement) {
  CHECK(database.connection().in_transaction(), "a list of cells is read into a tensor in a transaction");
  CHECK(cells.shape() == tensor.shape(), "a list of cells fills a tensor of its own shape");
  const auto expected = [&](std::int64_t seen) {
    if (cells.done() <= 0) return std::int64_t{0};
    return static_cast<std::int64_t>(static_cast<double>(seen) * static_cast<double>(cells.total()) /
                                     static_cast<double>(cells.done()));
  };
  CellLoader loader(database.connection(), tensor.store(), statement.cancellation(),
                    {.memory = settings.memory_limit(),
                     .spill_directory = database.file.scratch_directory(),
                     .base = cells.base(),
                     .distinct_keys = cells.has_distinct_keys(),
                     .expected_cells = expected,
                     .remedy_for_duplicates = cells.remedy_for_duplicates(),
                     .place = [&](std::int64_t line) { return cells.place(line); }});
  KeyedCell cell;
  for (std::int64_t n = 0; cells.next(cell); ++n) {
    if (n % kCellsPerReport == 0 && cells.total() > 0) statement.report("import", cells.done(), cells.total());
    loader.add(cell);
  }
  loader.finish();
}

}  // namespace eindb
