// scipy_reader.cpp documents the format.

#include "storage/formats/scipy_writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "storage/formats/dense_block_writer.hpp"
#include "storage/formats/npz_reader.hpp"
#include "storage/formats/scipy_reader.hpp"
#include "storage/formats/zip_directory.hpp"

namespace eindb {
namespace {

constexpr std::size_t kWaitingBytes = 256 << 10;
constexpr std::array<std::string_view, 9> kScipyArrays{"format", "shape", "data",    "indices",  "indptr",
                                                       "row",    "col",   "offsets", "_is_array"};

/// The names of arrays that are no part of a matrix of SciPy.
std::vector<std::string> other_arrays(const InputFile& archive) {
  std::vector<std::string> names;
  const bool has_matrix = holds_scipy_matrix(archive);
  for (const auto& member : read_zip_directory(archive)) {
    const auto known = std::find(kScipyArrays.begin(), kScipyArrays.end(), npz_array_name(member));
    if (!has_matrix || known == kScipyArrays.end()) names.push_back(member.name);
  }
  return names;
}

NpyElement scipy_element(StoredType type) {
  const auto element = npy_file_element_of(type);
  return element.kind == 'f' && element.size == 2 ? npy_file_element_of(type.values) : element;
}

/// SciPy takes 32 bits where they hold the number of entries and every index.
NpyElement index_element(const ScipyMatrix& matrix) {
  const auto most = std::max({matrix.entries, matrix.rows, matrix.columns});
  return {.kind = 'i', .size = most <= INT32_MAX ? 4 : 8};
}

/// An array of bytes, as NumPy has b'csr'.
std::string format_member() {
  auto header = make_npy_header({.kind = 'i', .size = 1}, Shape());
  const auto at = header.find("|i1");
  CHECK(at != std::string::npos, "a header names its elements");
  header.replace(at, 3, "|S3");
  return header + "csr";
}

}  // namespace

ScipyWriter::ScipyWriter(const FilePath& path, const ScipyMatrix& matrix, Compression compression, Overwrite overwrite,
                         const Cancellation& cancellation)
    : cancellation_(cancellation),
      file_(path),
      matrix_(matrix),
      compression_(compression),
      element_(scipy_element(matrix.type)),
      index_element_(index_element(matrix)),
      indices_(begin_array("indices.npy", make_npy_header(index_element_, Shape({matrix.entries})))),
      pointers_(begin_array("indptr.npy", make_npy_header(index_element_, Shape({checked_add(matrix.rows, 1)})))),
      data_(begin_array("data.npy", make_npy_header(element_, Shape({matrix.entries})))) {
  require_regular_file(file_.is_seekable(), file_.path(), "NPZ");
  keep_other_arrays(file_, path, "", overwrite, other_arrays);
  append_index(pointers_, 0);
}

ScipyWriter::Array ScipyWriter::begin_array(const std::string& name, const std::string& header) const {
  Array array{.name = name, .file = ScratchFile(), .waiting = {}};
  append(array, std::as_bytes(std::span(header)));
  return array;
}

void ScipyWriter::append(Array& array, std::span<const std::byte> bytes) const {
  array.waiting.insert(array.waiting.end(), bytes.begin(), bytes.end());
  if (array.waiting.size() >= kWaitingBytes) flush(array);
}

void ScipyWriter::flush(Array& array) const {
  cancellation_.check();
  array.file.append(array.waiting);
  array.waiting.clear();
}

void ScipyWriter::append_index(Array& array, std::int64_t index) const {
  DCHECK(index_element_.size == 8 || index <= INT32_MAX, "32 bits hold an index where they were chosen");
  // The low bytes come first.
  append(array, std::as_bytes(std::span(&index, 1)).first(static_cast<std::size_t>(index_element_.size)));
}

void ScipyWriter::add_cell(std::int64_t row, std::int64_t column, std::span<const std::byte> value) {
  DCHECK(row >= row_ && row < matrix_.rows && column >= 0 && column < matrix_.columns,
         "cells come in order and lie in the matrix");
  CHECK(value.size() == size_of(matrix_.type.values), "a value has the type of the matrix");
  for (; row_ < row; ++row_) append_index(pointers_, added_);
  append_index(indices_, column);
  values_.insert(values_.end(), value.begin(), value.end());
  ++added_;
  if (values_.size() >= kWaitingBytes) write_values();
}

void ScipyWriter::write_values() {
  const auto count = static_cast<std::int64_t>(values_.size() / size_of(matrix_.type.values));
  if (count == 0) return;
  auto block = Tile::uninitialized(matrix_.type.values, Shape({count}));
  std::memcpy(block.mutable_bytes().data(), values_.data(), values_.size());
  write_dense_block(block.shape(), {0}, block, element_, [&](std::int64_t, auto bytes) { append(data_, bytes); });
  values_.clear();
}

void ScipyWriter::add_array(ZipWriter& archive, Array array) const {
  flush(array);
  archive.add(array.name, *array.file.read(file_.path()), [&](std::int64_t, std::int64_t) { cancellation_.check(); });
}

void ScipyWriter::commit() {
  CHECK(added_ == matrix_.entries, "a matrix has the entries that were announced");
  for (; row_ < matrix_.rows; ++row_) append_index(pointers_, added_);
  write_values();
  auto format = begin_array("format.npy", format_member());
  auto shape = begin_array("shape.npy", make_npy_header({.kind = 'i', .size = 8}, Shape({2})));
  const std::array<std::int64_t, 2> extents{matrix_.rows, matrix_.columns};
  append(shape, std::as_bytes(std::span(extents)));
  ZipWriter archive(file_, compression_);
  for (auto* array : {&indices_, &pointers_, &format, &shape, &data_}) add_array(archive, std::move(*array));
  archive.finish();
  file_.commit();
}

}  // namespace eindb
