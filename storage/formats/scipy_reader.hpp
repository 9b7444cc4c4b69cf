#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/cancellation.hpp"
#include "storage/cells/cell_source.hpp"
#include "storage/files/input_file.hpp"
#include "storage/formats/npz_values.hpp"
#include "storage/formats/zip_directory.hpp"

namespace eindb {

/// Whether an NPZ file has the arrays `format`, `shape` and `data` of scipy.sparse.save_npz. The errors of
/// read_zip_directory.
bool holds_scipy_matrix(const InputFile& file);

/// Reads the cells of a sparse matrix that SciPy has saved: CSR, CSC, COO, BSR or DIA. The arrays are read side by
/// side in one pass, in memory that does not depend on their sizes. Zeros in the blocks of BSR and on the diagonals of
/// DIA are no cells. Keys may come twice, as SciPy allows it; the consumer refuses them. The format is documented at
/// the head of the source.
class ScipyReader final : public CellSource {
 public:
  /// Reads the headers of all arrays. Errors name the file and the member: Error{Value} if an array is not there,
  /// Error{Corrupt} if sizes contradict each other, Error{Shape} for a shape beyond 64 bits, Error{Unsupported} for
  /// other formats and elements. `cancellation` outlives it.
  ScipyReader(const FilePath& path, const Cancellation& cancellation);

  DType dtype() const override { return type().values; }
  StoredType type() const override { return data_->type(); }
  const Shape& shape() const override { return shape_; }
  std::string remedy_for_duplicates() const override {
    return "each cell has one value; SciPy's m.sum_duplicates() adds up what a matrix has several times";
  }
  /// SciPy's name of the format: "csr".
  const std::string& format() const { return format_; }
  /// Also throws Error{Corrupt} for indices outside the matrix, and row pointers that go backwards.
  bool next(KeyedCell& cell) override;
  std::string place(std::int64_t line) const override;
  std::int64_t done() const override { return data_->taken(); }
  std::int64_t total() const override { return data_->shape().element_count(); }
  std::int64_t most_cells() const override { return total(); }

 private:
  std::unique_ptr<NpzValues> open(const std::string& array) const;
  std::unique_ptr<NpzValues> open_integers(const std::string& array, std::size_t rank) const;
  std::string read_format() const;
  Shape read_shape() const;
  void open_compressed();
  void open_coordinates();
  void open_diagonals();
  bool next_of_compressed(KeyedCell& cell);
  bool next_of_coordinates(KeyedCell& cell);
  bool next_of_diagonals(KeyedCell& cell);
  void start_line();
  std::int64_t take_index(NpzValues& indices, std::int64_t extent) const;

  InputFile file_;
  std::vector<ZipEntry> members_;
  const Cancellation& cancellation_;
  std::string format_;
  Shape shape_;
  std::unique_ptr<NpzValues> data_;
  std::unique_ptr<NpzValues> indices_;   // or `row`, or `offsets`
  std::unique_ptr<NpzValues> pointers_;  // or `col`
  // Of compressed formats, whose lines are rows, columns (CSC) or rows of blocks (BSR).
  std::int64_t block_rows_ = 1;
  std::int64_t block_columns_ = 1;
  std::int64_t lines_ = 0;
  std::int64_t line_ = -1;
  std::int64_t line_end_ = 0;  // the first entry behind the line
  std::int64_t index_ = 0;     // of the entry in its line
  // Of DIA.
  std::int64_t diagonal_length_ = 0;
  std::int64_t offset_ = 0;
};

}  // namespace eindb
