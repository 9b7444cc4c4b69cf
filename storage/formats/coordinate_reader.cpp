#include "storage/formats/coordinate_reader.hpp"

#include <algorithm>
#include <charconv>
#include <complex>
#include <cstdint>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "storage/encoding/tile_codec.hpp"

/// The formats, a cell per line:
///
///     i,j,val          a header, or none            # FROSTT: keys count from 1
///     0,3,1.5          key..., value                1 4 1.5
///     2,0,-2           spaces around are ignored    3 1 -2
///
/// Complex numbers stand in one column, 1.5-2j, or in two, re,im.

namespace eindb {
namespace {

/// Lines between two polls for cancellation.
constexpr std::int64_t kLinesPerCheck = 16384;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string count_of(std::size_t n, const std::string& what) { return std::to_string(n) + what + (n == 1 ? "" : "s"); }

}  // namespace

CoordinateOptions frostt_options() {
  return {.delimiter = '\0', .header = CsvHeader::Absent, .comment = '#', .base = 1};
}

CoordinateReader::CoordinateReader(const FilePath& path, CoordinateOptions options, std::optional<Shape> shape,
                                   std::optional<DType> dtype, const Cancellation& cancellation)
    : file_(path), lines_(file_), options_(options), shape_(std::move(shape)), dtype_(dtype) {
  if (shape_) rank_ = shape_->rank();
  read_first_line(cancellation);
  if (!shape_ || !dtype_) survey(cancellation);
  CHECK(shape_ && dtype_ && (!rank_ || shape_->rank() == *rank_), "the shape, its rank and the type are known");
  lines_.rewind();
}

void CoordinateReader::fail(const std::string& what, std::string hint) const {
  throw Error(ErrorKind::Corrupt, lines_.place() + ": " + what, std::nullopt, std::move(hint));
}

void CoordinateReader::fail_count(std::string_view line) const {
  const auto rank = *rank_;
  fail(count_of(count_fields(line), " field") + " instead of " + std::to_string(rank + (in_parts_ ? 2 : 1)),
       "a line has a key of " + count_of(rank, " column") +
           (in_parts_ ? " and then a real and an imaginary part" : " and then a value"));
}

/// Skips lines that hold no cell.
bool CoordinateReader::next_line(std::string_view& line) {
  while (lines_.next(line)) {
    line = trimmed(line);
    const bool comment = options_.comment != '\0' && line.starts_with(options_.comment);
    if (!line.empty() && !comment && lines_.number() != header_line_) return true;
  }
  return false;
}

/// Takes the next field; `rest` then begins after the delimiter. Its pointer is null once no field is left.
bool CoordinateReader::take_field(std::string_view& rest, std::string_view& field) const {
  if (rest.data() == nullptr) return false;
  if (options_.delimiter == '\0') {
    const auto end = std::find_if(rest.begin(), rest.end(), is_blank);
    field = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    rest.remove_prefix(field.size());
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    if (rest.empty()) rest = {};
    return true;
  }
  std::size_t quoted = 0;
  if (const auto text = trimmed(rest); text.starts_with('"')) {
    auto close = text.find('"', 1);
    while (close != std::string_view::npos && close + 1 < text.size() && text[close + 1] == '"')
      close = text.find('"', close + 2);
    if (close == std::string_view::npos) fail("a quote without an end");
    quoted = static_cast<std::size_t>(text.data() - rest.data()) + close + 1;
  }
  const auto end = rest.find(options_.delimiter, quoted);
  field = trimmed(rest.substr(0, end));
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  if (quoted != 0 && field.size() >= 2 && field.back() == '"') field = trimmed(field.substr(1, field.size() - 2));
  return true;
}

std::size_t CoordinateReader::count_fields(std::string_view line) const {
  std::size_t count = 0;
  for (std::string_view field; take_field(line, field);) ++count;
  return count;
}

/// Whether values stand in two columns: a header calls them re and im, or a complex tensor has one dimension less.
bool CoordinateReader::gives_parts(std::string_view first_line, std::size_t columns, bool has_header) const {
  if (columns < 2 || (dtype_ && !is_complex(*dtype_))) return false;
  if (rank_ && dtype_ && columns == *rank_ + 2) return true;
  if (!has_header) return false;
  std::string_view before;
  std::string_view last;
  for (std::string_view rest = first_line, field; take_field(rest, field);) before = std::exchange(last, field);
  return equal_ignoring_case(before, "re") && equal_ignoring_case(last, "im");
}

/// Finds the number of columns, and whether the line is a header, which has no number.
void CoordinateReader::read_first_line(const Cancellation& cancellation) {
  std::string_view line;
  if (!next_line(line)) return;
  const auto columns = count_fields(line);
  if (columns > kMaxStoredRank + 1) {
    fail(count_of(columns, " field"),
         "a tensor has at most " + std::to_string(kMaxStoredRank) + " dimensions; a line is a key and then a value");
  }
  bool has_number = false;
  std::int64_t counted = 0;  // fields that are 0, 1, 2, ... from the first one on
  std::size_t at = 0;
  for (std::string_view rest = line, field; take_field(rest, field); ++at) {
    const auto number = parse_cell_value(field);
    has_number = has_number || number.has_value();
    if (std::cmp_equal(counted, at) && number == CellValue(counted)) ++counted;
  }
  const bool has_header = options_.header == CsvHeader::Present || (options_.header == CsvHeader::Auto && !has_number);
  in_parts_ = gives_parts(line, columns, has_header);
  const std::size_t values = in_parts_ ? 2 : 1;
  if (!rank_) rank_ = columns - values;
  if (columns != *rank_ + values) fail_count(line);
  if (options_.header == CsvHeader::Auto && columns > 1 && std::cmp_equal(counted, columns)) require_cell(cancellation);
  if (!has_header) return;
  if (std::any_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; }))
    fail("this is no text: " + shown_text(line));
  header_line_ = lines_.number();
  for (std::string_view rest = line, field; labels_.size() < *rank_ && take_field(rest, field);)
    labels_.emplace_back(field);
  CHECK(labels_.size() == *rank_, "a header names each column of the key");
}

/// Fails unless the first line, 0,1,2,..., has to be a cell: another line has an integer as its value, or there is
/// none.
void CoordinateReader::require_cell(const Cancellation& cancellation) {
  const auto place = lines_.place();
  std::int64_t others = 0;
  for (std::string_view line; next_line(line); ++others) {
    if (others % kLinesPerCheck == 0) cancellation.check();
    std::string_view value;
    for (std::string_view rest = line, field; take_field(rest, field);) value = field;
    const auto number = parse_cell_value(value);
    if (!number || std::holds_alternative<std::int64_t>(*number)) return;
  }
  if (others == 0) return;
  throw Error(ErrorKind::Value, place + ": 0, 1, 2, ... may be names of columns, as pandas writes them, or a cell",
              std::nullopt, "say which: (HEADER on) or (HEADER off)");
}

/// Grows the extents so that they include the cell's key.
void CoordinateReader::extend(std::vector<std::int64_t>& extents, const KeyedCell& cell) const {
  DCHECK(cell.key.size() == extents.size(), "a key has one index per dimension");
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (cell.key[d] < 0 || cell.key[d] == INT64_MAX) {
      fail("the key " + key_text(cell.key, base()) + " lies outside every shape",
           "keys count from " + std::to_string(base()) + "; extents fit 64 bits");
    }
    extents[d] = std::max(extents[d], cell.key[d] + 1);
  }
}

void CoordinateReader::survey(const Cancellation& cancellation) {
  lines_.rewind();
  std::vector<std::int64_t> extents(rank_.value_or(0), 0);
  DType type = DType::Int64;
  std::int64_t cells = 0;
  KeyedCell cell;
  for (std::string_view line; next_line(line); ++cells) {
    if (cells % kLinesPerCheck == 0) cancellation.check();
    parse(line, cell);
    type = wider(type, cell.value);
    if (!shape_) extend(extents, cell);
  }
  if (!dtype_) dtype_ = in_parts_ ? DType::Complex128 : cells == 0 ? DType::Float64 : type;
  if (shape_) return;
  if (cells == 0) {
    throw Error(ErrorKind::Value, file_.path() + " has no cells, so that its shape is not known", std::nullopt,
                "give it: SHAPE '1000,2000', or copy into a tensor that exists");
  }
  shape_ = Shape(std::move(extents));
}

std::int64_t CoordinateReader::index_called(std::string_view field, std::size_t column, const IndexNames& names) const {
  std::string name;
  for (std::size_t n = 0; n < field.size(); ++n) {
    name += field[n];
    if (field.substr(n, 2) == "\"\"") ++n;  // a quote inside of quotes
  }
  if (const auto index = names.find(name); index >= 0) return index;
  fail("column " + std::to_string(column + 1) + " is " + shown_text(field) + ", which is the name of no index",
       "the key has names of the tensor's indices: ALTER TENSOR ... EXTEND adds others");
}

std::int64_t CoordinateReader::parse_index(std::string_view field, std::size_t column) const {
  if (const auto names = options_.names.at(column)) return index_called(field, column, *names);
  std::int64_t index = 0;
  const auto* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, index);
  if (error == std::errc{} && stop == end && index >= INT64_MIN + options_.base) [[likely]]
    return index - options_.base;
  const auto name = "column " + std::to_string(column + 1);
  if (field.empty()) fail(name + " is empty");
  if (stop == end && error != std::errc::invalid_argument)
    fail(name + " is too large: " + shown_text(field), "an index fits 64 bits");
  fail(name + " is no index: " + shown_text(field), "a key is made of integers; the last column is the value");
}

void CoordinateReader::parse(std::string_view line, KeyedCell& cell) const {
  DCHECK(rank_.has_value(), "lines are read once their columns were counted");
  const auto rank = *rank_;
  cell.key.resize(rank);
  cell.line = lines_.number();
  std::string_view rest = line;
  std::string_view field;
  for (std::size_t d = 0; d < rank; ++d) {
    if (!take_field(rest, field)) fail_count(line);
    cell.key[d] = parse_index(field, d);
  }
  if (!take_field(rest, field) || (rest.data() != nullptr) != in_parts_) fail_count(line);
  cell.value = parse_value(field, rank);
  if (!in_parts_) return;
  if (!take_field(rest, field) || rest.data() != nullptr) fail_count(line);
  const auto part = [](const CellValue& value) { return to_element<double>(value).value_or(0); };
  cell.value = std::complex<double>(part(cell.value), part(parse_value(field, rank + 1)));
}

CellValue CoordinateReader::parse_value(std::string_view field, std::size_t column) const {
  const bool real = options_.delimiter == '\0' || in_parts_;
  if (const auto value = real ? parse_real_value(field) : parse_cell_value(field)) return *value;
  if (field.empty()) fail("column " + std::to_string(column + 1) + " is empty", "a cell without a value is left out");
  fail("column " + std::to_string(column + 1) + " is no number: " + shown_text(field));
}

bool CoordinateReader::next(KeyedCell& cell) {
  std::string_view line;
  if (!next_line(line)) return false;
  parse(line, cell);
  return true;
}

}  // namespace eindb
