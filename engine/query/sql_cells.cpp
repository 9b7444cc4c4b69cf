#include "engine/query/sql_cells.hpp"

#include <complex>
#include <limits>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/session/statement_scopes.hpp"

namespace eindb {
namespace {

/// Names a value that is not a number, for error messages.
struct NameOfValue {
  std::string operator()(std::monostate) const { return "NULL"; }
  std::string operator()(const std::string& text) const { return "the text '" + text.substr(0, 40) + "'"; }
  std::string operator()(const std::vector<std::byte>&) const { return "a blob"; }
  std::string operator()(const auto& number) const { return to_string(CellValue(number)); }
};

}  // namespace

PreparedSql prepare_rows(const ast::Sql& sql, SessionState& session, const std::string& what) {
  const PartOfStatement part(session.statement);
  auto prepared = prepare_sql(sql, session);
  const bool gives_rows = prepared.has_statement() && prepared.statement().column_count() > 0;
  if (gives_rows && prepared.statement().is_read_only()) return prepared;
  throw Error(ErrorKind::Unsupported, what + " takes SQL that gives rows and changes nothing", sql.span,
              "use SELECT, VALUES, or WITH ... SELECT");
}

SqlCells::SqlCells(PreparedSql rows, DType dtype, Shape shape, DimensionNames names)
    : rows_(std::move(rows)), dtype_(dtype), shape_(std::move(shape)), names_(std::move(names)) {
  const auto wanted = shape_.rank() + 1;
  const auto given = static_cast<std::size_t>(rows_.statement().column_count());
  in_parts_ = is_complex(dtype_) && given == wanted + 1;
  if (given == wanted || in_parts_) return;
  throw Error(ErrorKind::Value,
              "the query gives " + std::to_string(given) + (given == 1 ? " column" : " columns") + " instead of " +
                  std::to_string(wanted),
              std::nullopt,
              is_complex(dtype_) ? "a column for each dimension, and then one for the value, or two for re and im"
                                 : "a column for each dimension, and then one for the value");
}

void SqlCells::fail(int column, const std::string& what) const {
  const auto d = static_cast<std::size_t>(column);
  throw Error(ErrorKind::Value, place(row_) + ": " + rows_.column_name(column) + " is " + what, std::nullopt,
              d >= shape_.rank()        ? "a value is a number"
              : names_.at(d) != nullptr ? "the key is one of the dimension's names: ALTER TENSOR ... EXTEND adds others"
                                        : "a key is made of integers");
}

CellValue SqlCells::number(int column) {
  const auto value = rows_.statement().value(column);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (std::holds_alternative<std::monostate>(value) && dtype_ != DType::Int64 && !in_parts_ &&
      static_cast<std::size_t>(column) >= shape_.rank())
    return std::numeric_limits<double>::quiet_NaN();  // which SQL shows as NULL
  const bool whole = is_complex(dtype_) && !in_parts_ && static_cast<std::size_t>(column) == shape_.rank();
  const auto* text = std::get_if<std::string>(&value);
  if (const auto complex = whole && text != nullptr ? parse_cell_value(*text) : std::nullopt) return *complex;
  fail(column, std::visit(NameOfValue{}, value));
}

double SqlCells::part(int column) {
  const auto value = number(column);
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

std::int64_t SqlCells::index(std::size_t dimension) {
  const auto column = static_cast<int>(dimension);
  if (const auto names = names_.at(dimension)) {
    const auto value = rows_.statement().value(column);
    const auto found = index_named_by(value, *names);
    if (found < 0) fail(column, std::visit(NameOfValue{}, value) + ", which is the name of no index");
    return found;
  }
  const auto value = number(column);
  const auto index = to_element<std::int64_t>(value);
  if (!index) fail(column, to_string(value) + ", which is no integer");
  return *index;
}

bool SqlCells::next(KeyedCell& cell) {
  if (!rows_.step()) return false;
  cell.line = ++row_;
  const auto rank = shape_.rank();
  DCHECK(static_cast<std::size_t>(rows_.statement().column_count()) == rank + (in_parts_ ? 2 : 1),
         "a row is a key and a value");
  cell.key.resize(rank);
  for (std::size_t d = 0; d < rank; ++d) cell.key[d] = index(d);
  const auto first = static_cast<int>(rank);
  if (in_parts_) cell.value = std::complex<double>(part(first), part(first + 1));
  else cell.value = number(first);
  return true;
}

}  // namespace eindb
