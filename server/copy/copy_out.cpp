#include "server/copy/copy_out.hpp"

#include <cstdint>
#include <utility>

#include "common/check.hpp"
#include "common/quote_identifier.hpp"
#include "server/values/row_writer.hpp"

namespace eindb {
namespace {

std::vector<CopyColumn> copy_columns(const std::vector<Column>& columns) {
  using ColumnPart = CopyColumn::Part;
  const auto seen = client_columns(columns);
  std::vector<CopyColumn> out;
  const auto add = [&](ColumnPart part) {
    out.push_back({seen[out.size()].name, seen[out.size()].type, part, seen[out.size()].modifier});
  };
  for (const auto& column : columns) {
    if (is_complex(column.type)) {
      add(ColumnPart::Real);
      add(ColumnPart::Imaginary);
    } else {
      add(ColumnPart::Whole);
    }
  }
  CHECK(out.size() == seen.size(), "a COPY sends the columns that clients see");
  return out;
}

}  // namespace

std::string rows_of_copy(std::string_view statement, const CopyStatement& copy) {
  CHECK(copy.source.begin <= copy.source.end && copy.source.end <= statement.size(),
        "the source of a COPY is in its text");
  std::string source(statement.substr(copy.source.begin, copy.source.end - copy.source.begin));
  if (copy.table.empty()) return source;
  std::string columns;
  for (const auto& name : copy.columns) columns += (columns.empty() ? "" : ", ") + quote_identifier(name);
  return "SELECT " + (columns.empty() ? "*" : columns) + " FROM " + source;
}

CopyOut::CopyOut(const CopyFormatOptions& options, const std::vector<Column>& columns)
    : format_(options.format),
      has_header_(options.header != CopyHeader::Absent),
      columns_(client_columns(columns).size()),
      encoder_(options, copy_columns(columns)) {}

void CopyOut::begin(MessageWriter& out) {
  CHECK(!begun_ && std::in_range<std::int16_t>(columns_), "a copy begins once, with columns that can be counted");
  const std::int16_t format = format_ == CopyFormat::Binary ? 1 : 0;
  out.begin('H').integer(static_cast<std::int8_t>(format)).integer(static_cast<std::int16_t>(columns_));
  for (std::size_t n = 0; n < columns_; ++n) out.integer(format);
  out.end();
  if (!has_header_) return;
  open(out);
  out.end();
}

// The header of binary rows shares a message with the first row, as clients take each message for a row.
void CopyOut::open(MessageWriter& out) {
  out.begin('d');
  if (!begun_) encoder_.begin(out);
  begun_ = true;
}

void CopyOut::row(MessageWriter& out, const Row& row) {
  open(out);
  encoder_.row(out, row);
  out.end();
}

void CopyOut::end(MessageWriter& out) {
  if (format_ == CopyFormat::Binary) {
    open(out);
    encoder_.end(out);
    out.end();
  }
  out.empty('c');
}

}  // namespace eindb
