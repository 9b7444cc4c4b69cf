#include "server/copy/copy_encoder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "server/copy/copy_signature.hpp"
#include "server/values/declared_type.hpp"
#include "server/values/value_format.hpp"

namespace eindb {
namespace {

using Part = CopyColumn::Part;

// All bytes that numbers consist of, including infinities and NaN.
constexpr std::string_view kNumberBytes = "+-.0123456789INaefinty";

std::vector<std::string> names_of(const std::vector<CopyColumn>& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  return names;
}

template <class T>
Cell part_of(const std::complex<T>& value, Part part) {
  return part == Part::Imaginary ? value.imag() : value.real();
}

/// One of the two columns of a complex number. Other cells (NULL) are the same in both.
Cell part_of(const Cell& cell, Part part) {
  if (const auto* single = std::get_if<std::complex<float>>(&cell)) return part_of(*single, part);
  if (const auto* real = std::get_if<std::complex<double>>(&cell)) return part_of(*real, part);
  return cell;
}

/// The letter of the escape for `c`; 0 if it has none.
constexpr char escape_letter(char c) {
  switch (c) {
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    case '\v': return 'v';
    default: return '\0';
  }
}

/// Calls `f` for each column with its cell or part of a cell.
template <class F>
void for_each_column(const std::vector<CopyColumn>& columns, const Row& row, const F& f) {
  std::size_t cell = 0;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const auto part = columns[column].part;
    DCHECK(cell < row.size(), "a row has a cell for each column that is no imaginary part");
    if (part == Part::Whole) f(row[cell], column);
    else f(part_of(row[cell], part), column);
    if (part != Part::Real) ++cell;
  }
  DCHECK(cell == row.size(), "every cell of a row is in a column");
}

}  // namespace

CopyEncoder::CopyEncoder(CopyFormatOptions options, std::vector<CopyColumn> columns)
    : options_(std::move(options)),
      columns_(std::move(columns)),
      force_quote_(options_.force_quote.among(names_of(columns_), "FORCE_QUOTE")) {
  if (columns_.size() > static_cast<std::size_t>(std::numeric_limits<std::int16_t>::max()))
    throw Error(ErrorKind::Unsupported, "COPY of " + std::to_string(columns_.size()) + " columns");
  CHECK(force_quote_.size() == columns_.size(), "it is known of each column whether it is always in quotes");
  CHECK(options_.header != CopyHeader::Match, "a header is matched where rows come, not where they go");
  plain_.fill(true);
  const auto special = [&](char c) { plain_[static_cast<unsigned char>(c)] = false; };
  for (const char c : {'\n', '\r', options_.delimiter}) special(c);
  if (options_.format == CopyFormat::Text) {
    for (const char c : {'\b', '\f', '\t', '\v', '\\'}) special(c);
  } else {
    special(options_.quote);
  }
  const auto all_numbers = [&](std::string_view bytes) {
    return bytes.find_first_not_of(kNumberBytes) == std::string_view::npos;
  };
  const bool null_may_be_number = !options_.null.empty() && all_numbers(options_.null);
  plain_numbers_ =
      !null_may_be_number && std::all_of(kNumberBytes.begin(), kNumberBytes.end(), [&](char c) { return is_plain(c); });
}

void CopyEncoder::begin(MessageWriter& out) const {
  if (options_.format == CopyFormat::Binary) {
    out.bytes(kCopySignature).integer<std::int32_t>(0).integer<std::int32_t>(0);
    return;
  }
  if (options_.header == CopyHeader::Absent) return;
  char before = '\0';
  for (const auto& column : columns_) {
    if (before != '\0') out.buffer() += before;
    text(out.buffer(), column.name, false);
    before = options_.delimiter;
  }
  out.buffer() += '\n';
}

void CopyEncoder::row(MessageWriter& out, const Row& row) {
  if (options_.format == CopyFormat::Binary) binary_row(out, row);
  else text_row(out.buffer(), row);
}

void CopyEncoder::end(MessageWriter& out) const {
  if (options_.format == CopyFormat::Binary) out.integer(kCopyTrailer);
}

void CopyEncoder::binary_row(MessageWriter& out, const Row& row) const {
  out.integer(static_cast<std::int16_t>(columns_.size()));
  for_each_column(columns_, row, [&](const Cell& cell, std::size_t column) {
    write_value(out, cell, columns_[column].type, frontend::Format::Binary, columns_[column].modifier);
  });
}

void CopyEncoder::text_row(std::string& out, const Row& row) {
  for_each_column(columns_, row, [&](const Cell& cell, std::size_t column) {
    if (column > 0) out += options_.delimiter;
    field(out, cell, column);
  });
  out += '\n';
}

void CopyEncoder::field(std::string& out, const Cell& cell, std::size_t column) {
  if (std::holds_alternative<std::monostate>(cell)) out += options_.null;
  else if (columns_[column].type == DataType::Bytea || std::holds_alternative<std::vector<std::byte>>(cell))
    bytes(out, cell, column);
  else if (width_of(columns_[column].type, columns_[column].modifier) > 0) padded(out, cell, column);
  else if (const auto* value = std::get_if<std::string>(&cell)) text(out, *value, force_quote_[column]);
  else number(out, cell, column);
}

void CopyEncoder::bytes(std::string& out, const Cell& cell, std::size_t column) {
  number_.clear();
  append_typed_text(number_, cell, DataType::Bytea);
  text(out, number_, force_quote_[column]);
}

void CopyEncoder::padded(std::string& out, const Cell& cell, std::size_t column) {
  number_.clear();
  append_typed_text(number_, cell, columns_[column].type, columns_[column].modifier);
  text(out, number_, force_quote_[column]);
}

void CopyEncoder::number(std::string& out, const Cell& cell, std::size_t column) {
  const auto* const truth = columns_[column].type == DataType::Bool ? std::get_if<std::int64_t>(&cell) : nullptr;
  if (truth != nullptr) return text(out, *truth != 0 ? "t" : "f", force_quote_[column]);
  const auto& described = columns_[column];
  const auto append = [&](std::string& to) {
    if (described.type == DataType::Numeric) append_typed_text(to, cell, described.type, described.modifier);
    else append_text(to, cell);
  };
  if (plain_numbers_ && !force_quote_[column]) return append(out);
  number_.clear();
  append(number_);
  text(out, number_, force_quote_[column]);
}

void CopyEncoder::text(std::string& out, std::string_view value, bool force_quote) const {
  if (options_.format == CopyFormat::Text) escaped(out, value);
  else if (force_quote || needs_quotes(value)) quoted(out, value);
  else out += value;
}

void CopyEncoder::escaped(std::string& out, std::string_view value) const {
  while (!value.empty()) {
    const auto plain = static_cast<std::size_t>(
        std::find_if_not(value.begin(), value.end(), [&](char c) { return is_plain(c); }) - value.begin());
    out += value.substr(0, plain);
    if (plain == value.size()) return;
    const char c = value[plain];
    const char letter = escape_letter(c);
    out += '\\';
    out += letter != '\0' ? letter : c;
    value.remove_prefix(plain + 1);
  }
}

bool CopyEncoder::needs_quotes(std::string_view value) const {
  // Alone in its line, `\.` would end the rows.
  const bool ends_rows = columns_.size() == 1 && value == "\\.";
  return value == options_.null || ends_rows ||
         !std::all_of(value.begin(), value.end(), [&](char c) { return is_plain(c); });
}

void CopyEncoder::quoted(std::string& out, std::string_view value) const {
  out += options_.quote;
  for (const char c : value) {
    if (c == options_.quote || c == options_.escape) out += options_.escape;
    out += c;
  }
  out += options_.quote;
}

}  // namespace eindb
