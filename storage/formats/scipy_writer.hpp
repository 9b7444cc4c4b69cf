#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "storage/files/output_file.hpp"
#include "storage/files/scratch_file.hpp"
#include "storage/formats/existing_arrays.hpp"
#include "storage/formats/npy_header.hpp"
#include "storage/formats/zip_writer.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// The type and the extents of a sparse matrix, which are read before its cells.
struct ScipyMatrix {
  StoredType type;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
};

/// Writes a sparse matrix as scipy.sparse.save_npz does: an NPZ file with a matrix in CSR, with indices of 32 bits if
/// they suffice, as SciPy chooses them. FLOAT16, which SciPy's matrices lack, becomes FLOAT32. The arrays gather in
/// temporary files, so memory stays at some MiB. The file appears with commit(). Not thread-safe.
class ScipyWriter {
 public:
  /// Error{Io} if the file cannot be created, or is a pipe or a device; the errors of keep_other_arrays(), for which a
  /// matrix of SciPy that is replaced is no other array. `cancellation` outlives it.
  ScipyWriter(const FilePath& path, const ScipyMatrix& matrix, Compression compression, Overwrite overwrite,
              const Cancellation& cancellation);

  /// Adds a cell of the matrix. Cells come row after row, and in a row by ascending columns; T is the type's own.
  template <class T>
  void add(std::int64_t row, std::int64_t column, const T& value) {
    add_cell(row, column, std::as_bytes(std::span(&value, 1)));
  }
  /// Publishes the file, once all entries were added. Error{Value} for a value that the type does not hold.
  void commit();

 private:
  /// An array of the archive: an NPY file whose values are appended.
  struct Array {
    std::string name;
    ScratchFile file;
    std::vector<std::byte> waiting;
  };

  void add_cell(std::int64_t row, std::int64_t column, std::span<const std::byte> value);
  void append_index(Array& array, std::int64_t index) const;
  void append(Array& array, std::span<const std::byte> bytes) const;
  void write_values();
  void flush(Array& array) const;
  Array begin_array(const std::string& name, const std::string& header) const;
  void add_array(ZipWriter& archive, Array array) const;

  const Cancellation& cancellation_;
  OutputFile file_;
  ScipyMatrix matrix_;
  Compression compression_;
  NpyElement element_;
  NpyElement index_element_;
  Array indices_;
  Array pointers_;
  Array data_;
  std::vector<std::byte> values_;  // as they are in tiles, before they are encoded
  std::int64_t added_ = 0;
  std::int64_t row_ = 0;  // of the last cell
};

}  // namespace eindb
