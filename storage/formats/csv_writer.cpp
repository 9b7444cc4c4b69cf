#include "storage/formats/csv_writer.hpp"

#include <span>
#include <type_traits>

#include "common/check.hpp"
#include "common/error.hpp"
#include "tensor/number_text.hpp"

namespace eindb {
namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

}  // namespace

CsvWriter::CsvWriter(const FilePath& path, DType dtype, const Shape& shape, const std::vector<std::string>& header,
                     char delimiter)
    : file_(path),
      dtype_(dtype),
      rank_(shape.rank()),
      rows_left_(shape.rank() > 0 ? shape[0] : 1),
      columns_(shape.rank() > 1 ? shape[1] : 1),
      delimiter_(delimiter) {
  if (rank_ > 2) {
    throw Error(ErrorKind::Unsupported, "CSV holds a matrix, not " + std::to_string(rank_) + " dimensions",
                std::nullopt, "write it as npy");
  }
  if (is_complex(dtype)) {
    throw Error(ErrorKind::Unsupported, "CSV holds real numbers, not " + std::string(name_of(dtype)), std::nullopt,
                "write it as npy, or its REAL() and IMAG() one by one");
  }
  CHECK(header.empty() || static_cast<std::int64_t>(header.size()) == columns_, "a header names each column");
  for (const auto& name : header) put_name(name);
  if (!header.empty()) end_line();
}

void CsvWriter::put_name(const std::string& name) {
  if (name.find_first_of(std::string("\"\r\n") + delimiter_) == std::string::npos) {
    buffer_ += name;
  } else {
    buffer_ += '"';
    for (const char c : name) buffer_ += c == '"' ? std::string("\"\"") : std::string(1, c);
    buffer_ += '"';
  }
  buffer_ += delimiter_;
}

/// Each field is followed by a delimiter; the last delimiter of a line is replaced by the line end.
void CsvWriter::end_line() {
  DCHECK(columns_ == 0 || buffer_.ends_with(delimiter_), "each field has put a delimiter behind it");
  if (columns_ > 0) buffer_.back() = '\n';
  else buffer_ += '\n';
  if (buffer_.size() >= kFlushBytes) flush();
}

template <class T>
void CsvWriter::put_rows(const T* values, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns_; ++c) {
      append_number(buffer_, *values++);
      buffer_ += delimiter_;
    }
    end_line();
  }
}

void CsvWriter::append(const Tile& band) {
  const auto rows = rank_ > 0 ? band.shape()[0] : 1;
  CHECK(band.dtype() == dtype_ && band.shape().rank() == rank_ && rows <= rows_left_ &&
            (rank_ < 2 || band.shape()[1] == columns_),
        "a band has the file's type and columns");
  rows_left_ -= rows;
  dispatch(dtype_, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_arithmetic_v<T>) put_rows(band.data<T>(), rows);
  });
}

void CsvWriter::flush() {
  file_.append(std::as_bytes(std::span(buffer_)));
  buffer_.clear();
}

void CsvWriter::commit() {
  CHECK(rows_left_ == 0, "all rows are written before the commit");
  flush();
  file_.commit();
}

}  // namespace eindb
