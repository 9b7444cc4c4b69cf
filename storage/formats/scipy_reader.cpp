#include "storage/formats/scipy_reader.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/npz_reader.hpp"
#include "storage/formats/zip_inflater.hpp"

/// The format (scipy.sparse.save_npz) is an NPZ file of these arrays; n is the number of entries:
///
///     format    bytes or text: 'csr', 'csc', 'coo', 'bsr' or 'dia'
///     shape     two integers: rows, columns
///     data      the values, (n,); BSR: blocks, (n, R, C); DIA: diagonals, (n, L)
///     indptr    CSR, CSC, BSR: the first entry of each row, column or row of blocks, and n, so that these are
///     ascending indices   CSR, CSC, BSR: the column, row or column of blocks of each entry, (n,) row, col  COO: the
///     key of each entry, (n,) offsets   DIA: column - row of each diagonal, (n,); data[d, j] is the cell (j -
///     offsets[d], j), if there is one
///
/// The matrix [[0, 5], [6, 7]] as CSR: data 5 6 7, indices 1 0 1, indptr 0 1 3. Newer versions of SciPy add
/// `_is_array`, which does not change the matrix.

namespace eindb {
namespace {

constexpr std::array<std::string_view, 5> kScipyFormats{"csr", "csc", "coo", "bsr", "dia"};
constexpr std::int64_t kLongestFormatMember = 4096;
constexpr const char* kSavesOthers = "save it from SciPy as CSR: scipy.sparse.save_npz('x.npz', m.tocsr())";

const ZipEntry* find_array(const std::vector<ZipEntry>& members, const std::string& array) {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const ZipEntry& member) { return npz_array_name(member) == array; });
  return found == members.end() ? nullptr : &*found;
}

[[noreturn]] void fail_member(const std::string& name, const std::string& what, std::string hint = {}) {
  throw Error(ErrorKind::Corrupt, name + " " + what, std::nullopt, std::move(hint));
}

bool is_zero_value(const CellValue& value) {
  return std::visit([](const auto& number) { return number == std::decay_t<decltype(number)>(0); }, value);
}

/// "an array of shape [3, 2]".
std::string shape_text(const NpzValues& values) { return "an array of shape " + values.shape().to_string(); }

}  // namespace

bool holds_scipy_matrix(const InputFile& file) {
  const auto members = npz_members(file);
  const auto has = [&](const char* array) { return find_array(members, array) != nullptr; };
  return has("format") && has("shape") && has("data");
}

ScipyReader::ScipyReader(const FilePath& path, const Cancellation& cancellation)
    : file_(path), members_(npz_members(file_)), cancellation_(cancellation) {
  format_ = read_format();
  shape_ = read_shape();
  data_ = open("data");
  if (format_ == "coo") open_coordinates();
  else if (format_ == "dia") open_diagonals();
  else open_compressed();
  if (data_->shape().rank() > 1 && data_->is_column_major())
    throw Error(ErrorKind::Unsupported, data_->name() + " is column-major", std::nullopt, kSavesOthers);
}

std::unique_ptr<NpzValues> ScipyReader::open(const std::string& array) const {
  const auto* member = find_array(members_, array);
  if (member == nullptr)
    throw Error(ErrorKind::Value,
                file_.path() + " holds no sparse matrix of SciPy: there is no member '" + array + ".npy'", std::nullopt,
                "scipy.sparse.save_npz writes such files");
  return std::make_unique<NpzValues>(file_, *member, cancellation_);
}

std::unique_ptr<NpzValues> ScipyReader::open_integers(const std::string& array, std::size_t rank) const {
  auto values = open(array);
  if (!values->has_integers()) fail_member(values->name(), "has elements that are no integers");
  if (values->shape().rank() != rank) fail_member(values->name(), "is " + shape_text(*values) + ", not a list");
  return values;
}

/// The text stands behind the header, in bytes or, from early versions, in four bytes per character.
std::string ScipyReader::read_format() const {
  const auto* member = find_array(members_, "format");
  if (member == nullptr) open("format");
  CHECK(member != nullptr, "what opens is there");
  const auto name = npz_member_text(file_, *member);
  if (member->size > kLongestFormatMember)
    fail_member(name, "has " + std::to_string(member->size) + " bytes, and the name of a format is short");
  ZipInflater contents(file_, *member);
  std::vector<std::byte> bytes(static_cast<std::size_t>(member->size));
  bytes.resize(contents.read(bytes));
  const auto begin = npy_values_offset(name, bytes, static_cast<std::int64_t>(bytes.size()));
  std::string text;
  for (const auto byte : std::span(bytes).subspan(static_cast<std::size_t>(begin)))
    if (byte != std::byte{}) text += static_cast<char>(byte);
  if (std::find(kScipyFormats.begin(), kScipyFormats.end(), text) == kScipyFormats.end())
    throw Error(ErrorKind::Unsupported, name + " names a format of matrices that is not known: " + quoted_name(text),
                std::nullopt, kSavesOthers);
  return text;
}

Shape ScipyReader::read_shape() const {
  const auto values = open_integers("shape", 1);
  if (values->shape()[0] != 2)
    fail_member(values->name(), "has " + std::to_string(values->shape()[0]) + " extents, and a matrix has two");
  std::vector<std::int64_t> extents;
  while (!values->at_end()) extents.push_back(values->next_integer());
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 0; }))
    fail_member(values->name(), "has a negative extent: " + bracketed(extents));
  if (!try_product(extents))
    throw Error(ErrorKind::Shape, values->name() + " has more elements than 64 bits can count: " + bracketed(extents));
  return Shape(std::move(extents));
}

void ScipyReader::open_compressed() {
  const auto rank = data_->shape().rank();
  if (rank != (format_ == "bsr" ? 3U : 1U)) fail_member(data_->name(), "is " + shape_text(*data_) + " in " + format_);
  if (format_ == "bsr") {
    block_rows_ = data_->shape()[1];
    block_columns_ = data_->shape()[2];
    const bool divides =
        block_rows_ > 0 && block_columns_ > 0 && shape_[0] % block_rows_ == 0 && shape_[1] % block_columns_ == 0;
    if (!divides)
      fail_member(data_->name(),
                  "is " + shape_text(*data_) + ", whose blocks do not fill a matrix of shape " + shape_.to_string());
  }
  lines_ = format_ == "csc" ? shape_[1] : shape_[0] / block_rows_;
  indices_ = open_integers("indices", 1);
  pointers_ = open_integers("indptr", 1);
  if (indices_->shape()[0] != data_->shape()[0])
    fail_member(indices_->name(), "has " + std::to_string(indices_->shape()[0]) + " entries, and 'data.npy' has " +
                                      std::to_string(data_->shape()[0]));
  if (pointers_->shape()[0] - 1 != lines_)
    fail_member(pointers_->name(), "has " + std::to_string(pointers_->shape()[0]) + " entries, not the " +
                                       std::to_string(checked_add(lines_, 1)) + " of a matrix of shape " +
                                       shape_.to_string() + " in " + format_);
  if (const auto first = pointers_->next_integer(); first != 0)
    fail_member(pointers_->name(), "begins with " + std::to_string(first) + ", not with 0");
}

void ScipyReader::open_coordinates() {
  indices_ = open_integers("row", 1);
  pointers_ = open_integers("col", 1);
  const auto entries = data_->shape().element_count();
  if (data_->shape().rank() != 1) fail_member(data_->name(), "is " + shape_text(*data_) + " in coo");
  for (const auto* keys : {indices_.get(), pointers_.get()})
    if (keys->shape()[0] != entries)
      fail_member(keys->name(), "has " + std::to_string(keys->shape()[0]) + " entries, and 'data.npy' has " +
                                    std::to_string(entries));
}

void ScipyReader::open_diagonals() {
  indices_ = open_integers("offsets", 1);
  if (data_->shape().rank() != 2) fail_member(data_->name(), "is " + shape_text(*data_) + " in dia");
  if (indices_->shape()[0] != data_->shape()[0])
    fail_member(indices_->name(), "has " + std::to_string(indices_->shape()[0]) + " entries, and 'data.npy' has " +
                                      std::to_string(data_->shape()[0]) + " diagonals");
  diagonal_length_ = data_->shape()[1];
}

bool ScipyReader::next(KeyedCell& cell) {
  cell.key.resize(2);
  if (format_ == "coo") return next_of_coordinates(cell);
  return format_ == "dia" ? next_of_diagonals(cell) : next_of_compressed(cell);
}

std::int64_t ScipyReader::take_index(NpzValues& indices, std::int64_t extent) const {
  const auto entry = indices.taken();
  const auto index = indices.next_integer();
  if (index < 0 || index >= extent)
    fail_member(indices.name(), "has the index " + std::to_string(index) + " in entry " + std::to_string(entry) +
                                    ", outside a matrix of shape " + shape_.to_string());
  return index;
}

/// Goes on to the next line that has an entry, or to the end.
void ScipyReader::start_line() {
  const auto entries = indices_->shape()[0];
  while (line_end_ == indices_->taken() && line_ + 1 < lines_) {
    ++line_;
    const auto end = pointers_->next_integer();
    if (end < line_end_ || end > entries)
      fail_member(pointers_->name(), "goes from " + std::to_string(line_end_) + " to " + std::to_string(end) +
                                         " in entry " + std::to_string(line_ + 1) + " of a matrix with " +
                                         std::to_string(entries) + " entries");
    line_end_ = end;
  }
  if (line_end_ == indices_->taken() && line_end_ != entries)
    fail_member(
        pointers_->name(),
        "ends with " + std::to_string(line_end_) + ", and 'indices.npy' has " + std::to_string(entries) + " entries",
        "SciPy's m.prune() drops entries behind the last row");
}

bool ScipyReader::next_of_compressed(KeyedCell& cell) {
  const auto block = checked_multiply(block_rows_, block_columns_);
  for (;;) {
    const auto within = data_->taken() % block;
    if (within == 0) {
      start_line();
      if (line_end_ == indices_->taken()) return false;
      const auto extent = format_ == "csc" ? shape_[0] : shape_[1] / block_columns_;
      index_ = take_index(*indices_, extent);
    }
    cell.line = data_->taken();
    cell.value = data_->next();
    if (format_ == "bsr" && is_zero_value(cell.value)) continue;
    cell.key[0] = line_ * block_rows_ + within / block_columns_;
    cell.key[1] = index_ * block_columns_ + within % block_columns_;
    if (format_ == "csc") std::swap(cell.key[0], cell.key[1]);
    return true;
  }
}

bool ScipyReader::next_of_coordinates(KeyedCell& cell) {
  if (data_->at_end()) return false;
  cell.key[0] = take_index(*indices_, shape_[0]);
  cell.key[1] = take_index(*pointers_, shape_[1]);
  cell.line = data_->taken();
  cell.value = data_->next();
  return true;
}

bool ScipyReader::next_of_diagonals(KeyedCell& cell) {
  while (!data_->at_end()) {
    const auto column = data_->taken() % diagonal_length_;
    if (column == 0) offset_ = indices_->next_integer();
    cell.line = data_->taken();
    cell.value = data_->next();
    std::int64_t row = 0;
    if (__builtin_sub_overflow(column, offset_, &row)) continue;
    if (row < 0 || row >= shape_[0] || column >= shape_[1] || is_zero_value(cell.value)) continue;
    cell.key[0] = row;
    cell.key[1] = column;
    return true;
  }
  return false;
}

std::string ScipyReader::place(std::int64_t line) const { return data_->name() + ", element " + std::to_string(line); }

}  // namespace eindb
