#include "server/values/row_writer.hpp"

#include <complex>

#include "common/check.hpp"
#include "server/values/declared_type.hpp"
#include "server/values/value_format.hpp"

namespace eindb {
namespace {

using frontend::Format;

// Writes one value, or the two parts of a complex number.
class RowFields {
 public:
  RowFields(MessageWriter& out, const std::vector<ClientColumn>& columns, const std::vector<Format>& formats)
      : out_(out), columns_(columns), formats_(formats) {}

  void write(const Cell& cell) {
    if (const auto* single = std::get_if<std::complex<float>>(&cell)) write_parts(*single);
    else if (const auto* number = std::get_if<std::complex<double>>(&cell)) write_parts(*number);
    else write_plain(cell);
  }
  std::size_t count() const { return next_; }

 private:
  template <class T>
  void write_parts(const std::complex<T>& number) {
    write(Cell(number.real()));
    write(Cell(number.imag()));
  }

  void write_plain(const Cell& cell) {
    DCHECK(next_ < columns_.size(), "a value that is written has a column");
    write_value(out_, cell, columns_[next_].type, format_of(formats_, next_), columns_[next_].modifier);
    ++next_;
  }

  MessageWriter& out_;
  const std::vector<ClientColumn>& columns_;
  const std::vector<Format>& formats_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<ClientColumn> client_columns(const std::vector<Column>& columns) {
  std::vector<ClientColumn> seen;
  for (const auto& column : columns) {
    const auto type = column_data_type(column);
    const auto modifier = declared_modifier(column.declared_type);
    if (is_complex(column.type)) {
      seen.push_back({column.name + "_re", type});
      seen.push_back({column.name + "_im", type});
    } else {
      seen.push_back({column.name, type, modifier});
    }
  }
  return seen;
}

void write_row_description(MessageWriter& out, const std::vector<ClientColumn>& columns,
                           const std::vector<Format>& formats) {
  out.begin('T').integer(static_cast<std::int16_t>(columns.size()));
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const auto& [name, type, modifier] = columns[n];
    const auto* const info = find_data_type(type);
    CHECK(info != nullptr, "clients are told of types that are known");
    out.text(name)
        .integer<std::int32_t>(0)  // no table
        .integer<std::int16_t>(0)
        .integer(static_cast<std::int32_t>(type))
        .integer(info->size)
        .integer(modifier)
        .integer(static_cast<std::int16_t>(format_of(formats, n)));
  }
  out.end();
}

void write_row(MessageWriter& out, const Row& row, const std::vector<ClientColumn>& columns,
               const std::vector<Format>& formats) {
  const auto begin = out.size();
  try {
    out.begin('D').integer(static_cast<std::int16_t>(columns.size()));
    RowFields fields(out, columns, formats);
    for (const auto& cell : row) fields.write(cell);
    DCHECK(fields.count() == columns.size(), "a row has a value for each column");
    out.end();
  } catch (...) {
    out.buffer().resize(begin);  // removes the incomplete message
    throw;
  }
}

}  // namespace eindb
