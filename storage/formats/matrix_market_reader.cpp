#include "storage/formats/matrix_market_reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"

/// The format (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, 1996):
///
///     %%MatrixMarket matrix coordinate real general     the banner; words in any case
///     % comments, and empty lines
///     3 4 2                                             rows, columns, entries
///     1 4 1.5                                           row, column (both from 1), value
///     3 1 -2                                            complex: two numbers; pattern: none
///
///     %%MatrixMarket matrix array real general
///     2 2                                               rows, columns
///     1.5                                               values, column after column
///
/// A symmetric or hermitian matrix gives its lower triangle with the diagonal, a skew-symmetric one without.

namespace eindb {
namespace {

constexpr std::string_view kBanner = "%%matrixmarket";

void skip_blanks(std::string_view& line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
}

/// Takes the next word and the blanks after it.
std::string_view take_word(std::string_view& line) {
  skip_blanks(line);
  const auto end = std::find_if(line.begin(), line.end(), is_blank);
  const auto word = line.substr(0, static_cast<std::size_t>(end - line.begin()));
  line.remove_prefix(word.size());
  skip_blanks(line);
  return word;
}

template <std::size_t N>
std::optional<std::size_t> index_of(std::string_view word, const std::array<std::string_view, N>& words) {
  const auto found = std::find(words.begin(), words.end(), to_lower(word));
  return found == words.end() ? std::nullopt : std::optional<std::size_t>(found - words.begin());
}

constexpr std::array<std::string_view, 2> kLayouts{"coordinate", "array"};
constexpr std::array<std::string_view, 4> kFields{"real", "integer", "complex", "pattern"};
constexpr std::array<std::string_view, 4> kSymmetries{"general", "symmetric", "skew-symmetric", "hermitian"};

/// n (n + 1) / 2; the even factor is halved first to avoid overflow.
std::int64_t triangle_cells(std::int64_t n) {
  return n % 2 == 0 ? checked_multiply(n / 2, n + 1) : checked_multiply(n, (n - 1) / 2 + 1);
}

}  // namespace

MatrixMarketReader::MatrixMarketReader(const FilePath& path) : file_(path), lines_(file_) {
  read_banner();
  read_size();
}

void MatrixMarketReader::fail(const std::string& what, std::string hint) const {
  throw Error(ErrorKind::Corrupt, lines_.place() + ": " + what, std::nullopt, std::move(hint));
}

DType MatrixMarketReader::dtype() const {
  if (field_ == Field::Integer) return DType::Int64;
  return field_ == Field::Complex ? DType::Complex128 : DType::Float64;
}

void MatrixMarketReader::read_banner() {
  std::string_view line;
  if (!lines_.next(line) || to_lower(take_word(line)) != kBanner)
    fail("this is no Matrix Market file", "its first line is %%MatrixMarket matrix coordinate real general");
  const auto word = [&](const auto& words, const char* what) {
    const auto text = take_word(line);
    const auto found = index_of(text, words);
    if (found) return *found;
    std::string hint = std::string(what) + " is";
    for (const auto known : words) hint += (known == words.front() ? " " : " or ") + std::string(known);
    fail(std::string("the banner has no ") + what + " that is known: " + shown_text(text), hint);
  };
  word(std::array<std::string_view, 1>{"matrix"}, "object");
  is_array_ = word(kLayouts, "format") == 1;
  field_ = static_cast<Field>(word(kFields, "field"));
  symmetry_ = static_cast<Symmetry>(word(kSymmetries, "symmetry"));
  if (!line.empty()) fail("the banner goes on: " + shown_text(line));
  const bool no_value = field_ == Field::Pattern && (is_array_ || symmetry_ == Symmetry::Skew);
  const bool no_conjugate = symmetry_ == Symmetry::Hermitian && field_ != Field::Complex;
  if (no_value || no_conjugate) {
    fail("the banner contradicts itself: " + std::string(kLayouts[is_array_ ? 1 : 0]) + " " +
         std::string(kFields[static_cast<std::size_t>(field_)]) + " " +
         std::string(kSymmetries[static_cast<std::size_t>(symmetry_)]));
  }
}

bool MatrixMarketReader::next_line(std::string_view& line) {
  while (lines_.next(line)) {
    skip_blanks(line);
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    if (!line.empty() && line.front() != '%') return true;
  }
  return false;
}

void MatrixMarketReader::read_size() {
  std::string_view line;
  if (!next_line(line)) fail("the file ends before its size");
  const auto rows = take_integer(line, "number of rows");
  const auto columns = take_integer(line, "number of columns");
  if (rows < 0 || columns < 0) fail("the size is negative");
  if (symmetry_ != Symmetry::General && rows != columns)
    fail("a matrix of " + std::to_string(rows) + " x " + std::to_string(columns) + " cannot be " +
         std::string(kSymmetries[static_cast<std::size_t>(symmetry_)]));
  shape_ = Shape({rows, columns});
  entries_ = is_array_ ? array_entries() : take_integer(line, "number of entries");
  if (!line.empty()) fail("more than the size: " + shown_text(line));
  if (entries_ < 0 || entries_ > shape_.element_count())
    fail(std::to_string(entries_) + " entries in a matrix of " + std::to_string(rows) + " x " +
         std::to_string(columns));
}

std::int64_t MatrixMarketReader::array_entries() const {
  const auto n = shape_[0];
  if (symmetry_ == Symmetry::General) return shape_.element_count();
  if (symmetry_ == Symmetry::Skew) return n == 0 ? 0 : triangle_cells(n - 1);
  return triangle_cells(n);
}

std::int64_t MatrixMarketReader::take_integer(std::string_view& line, const char* what) const {
  const auto word = take_word(line);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    fail(std::string("the ") + what + " is " +
         (word.empty() ? "missing" : "no integer that fits: " + shown_text(word)));
  return value;
}

double MatrixMarketReader::take_real(std::string_view& line) const {
  const auto word = take_word(line);
  const auto value = parse_real_value(word);
  if (!value) fail(word.empty() ? "a value is missing" : "the value is no number: " + shown_text(word));
  return *to_element<double>(*value);
}

CellValue MatrixMarketReader::read_value(std::string_view& line) const {
  switch (field_) {
    case Field::Pattern: return std::int64_t{1};
    case Field::Integer: return take_integer(line, "value");
    case Field::Real: return take_real(line);
    case Field::Complex: break;
  }
  const auto real = take_real(line);
  return std::complex<double>(real, take_real(line));
}

void MatrixMarketReader::read_key(std::string_view& line, KeyedCell& cell) {
  if (is_array_) return next_array_key(cell);
  for (std::size_t d = 0; d < 2; ++d) {
    const auto index = take_integer(line, d == 0 ? "row" : "column");
    if (index < 1 || index > shape_[d])
      fail(std::string(d == 0 ? "row " : "column ") + std::to_string(index) + " lies outside a matrix of " +
               std::to_string(shape_[0]) + " x " + std::to_string(shape_[1]),
           "both count from 1");
    cell.key[d] = index - 1;
  }
}

/// Down the columns, starting at the diagonal if the other triangle is implied.
void MatrixMarketReader::next_array_key(KeyedCell& cell) {
  const auto first_row = [&] {
    if (symmetry_ == Symmetry::General) return std::int64_t{0};
    return symmetry_ == Symmetry::Skew ? column_ + 1 : column_;
  };
  if (row_ < 0) row_ = first_row();
  else if (++row_ == shape_[0]) {
    ++column_;
    row_ = first_row();
  }
  DCHECK(row_ < shape_[0] && column_ < shape_[1], "an array has its entries in its matrix");
  cell.key[0] = row_;
  cell.key[1] = column_;
}

void MatrixMarketReader::check_triangle(const KeyedCell& cell) const {
  if (symmetry_ == Symmetry::General) return;
  const auto name = "a " + std::string(kSymmetries[static_cast<std::size_t>(symmetry_)]) + " matrix";
  if (cell.key[0] < cell.key[1])
    fail("the entry " + key_text(cell.key, 1) + " lies above the diagonal", name + " gives its lower triangle");
  if (cell.key[0] != cell.key[1]) return;
  if (symmetry_ == Symmetry::Skew) fail("the entry " + key_text(cell.key, 1) + " lies on the diagonal of " + name);
  const auto* complex = std::get_if<std::complex<double>>(&cell.value);
  if (symmetry_ == Symmetry::Hermitian && complex != nullptr && complex->imag() != 0)
    fail("the entry " + key_text(cell.key, 1) + " on the diagonal of " + name + " is not real");
}

CellValue MatrixMarketReader::mirrored(const CellValue& value) const {
  if (const auto* complex = std::get_if<std::complex<double>>(&value)) {
    if (symmetry_ == Symmetry::Hermitian) return std::conj(*complex);
    return symmetry_ == Symmetry::Skew ? -*complex : *complex;
  }
  if (symmetry_ != Symmetry::Skew) return value;
  if (const auto* real = std::get_if<double>(&value)) return -*real;
  const auto integer = std::get<std::int64_t>(value);
  if (integer == INT64_MIN) fail("INT64 cannot hold " + std::to_string(integer) + " with its sign changed");
  return -integer;
}

bool MatrixMarketReader::next(KeyedCell& cell) {
  if (std::exchange(has_mirror_, false)) {
    cell = mirror_;
    return true;
  }
  std::string_view line;
  if (!next_line(line)) {
    if (given_ == entries_) return false;
    fail("the file ends after " + std::to_string(given_) + " of " + std::to_string(entries_) + " entries");
  }
  if (++given_ > entries_) fail("more than the " + std::to_string(entries_) + " entries that the size says");
  cell.key.resize(2);
  cell.line = lines_.number();
  read_key(line, cell);
  cell.value = read_value(line);
  if (!line.empty()) fail("more than one entry in a line: " + shown_text(line));
  check_triangle(cell);
  if (symmetry_ == Symmetry::General || cell.key[0] == cell.key[1]) return true;
  mirror_.key.assign({cell.key[1], cell.key[0]});
  mirror_.value = mirrored(cell.value);
  mirror_.line = cell.line;
  has_mirror_ = true;
  return true;
}

}  // namespace eindb
