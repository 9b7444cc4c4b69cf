#include "sqlite/einsum_operand.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace eindb_sqlite {
namespace {

/// Rows of one INSERT.
constexpr std::size_t kInsertedRows = 256;

void read_row(EinsumOperand& operand, const HostStatement& rows) {
  const auto fail = [&](int column, const std::string& what) {
    throw HostError("column " + operand.columns[static_cast<std::size_t>(column)] + " of " + operand.text + " holds " +
                    (rows.type(column) == SQLITE_NULL ? "NULL" : "'" + rows.text(column) + "'") + " in row " +
                    std::to_string(operand.rows() + 1) + ": " + what);
  };
  const auto rank = static_cast<int>(operand.rank());
  for (int d = 0; d < rank; ++d) {
    if (rows.type(d) != SQLITE_INTEGER) fail(d, "an index is an integer");
    if (rows.integer(d) < 0) fail(d, "an index is not negative");
    if (rows.integer(d) == std::numeric_limits<std::int64_t>::max()) fail(d, "an index is less than that");
    operand.indices.push_back(rows.integer(d));
  }
  switch (rows.type(rank)) {
    case SQLITE_INTEGER: break;
    case SQLITE_FLOAT: operand.has_reals = true; break;
    case SQLITE_NULL: operand.has_reals = true; break;
    default: fail(rank, "a value is a number, or NULL");
  }
  operand.integers.push_back(rows.integer(rank));
  operand.reals.push_back(rows.type(rank) == SQLITE_NULL ? std::numeric_limits<double>::quiet_NaN() : rows.real(rank));
}

/// The values of rows at their places in a row-major array.
template <class T>
std::vector<T> placed(const std::vector<T>& values, const std::vector<std::int64_t>& places, std::int64_t count) {
  std::vector<T> array(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < values.size(); ++n) array[static_cast<std::size_t>(places[n])] = values[n];
  return array;
}

}  // namespace

void take_extents(EinsumOperand& operand) {
  auto& text = operand.text;
  while (!text.empty() && text.back() == ' ') text.pop_back();
  const auto open = text.rfind('(');
  if (open == std::string::npos || open == 0 || text.back() != ')') return;
  std::vector<std::int64_t> extents;
  const char* at = text.data() + open + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at < end) {
    while (at < end && *at == ' ') ++at;
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 1) return;
    extents.push_back(extent);
    at = next;
    while (at < end && *at == ' ') ++at;
    if (at < end && *at++ != ',') return;
  }
  if (extents.empty()) return;
  operand.extents = std::move(extents);
  text.resize(open);
  while (!text.empty() && text.back() == ' ') text.pop_back();
}

void read_rows(sqlite3* host, EinsumOperand& operand) {
  HostStatement rows(host, operand.name);
  if (!rows.is_read_only()) throw HostError("an operand is a query that only reads: " + operand.text);
  for (int n = 0; n < rows.column_count(); ++n) operand.columns.push_back(rows.column_name(n));
  if (operand.has_labels() && operand.term.size() != operand.rank()) {
    throw HostError(
        operand.text + " has " + std::to_string(operand.columns.size()) + " columns, and the subscripts '" +
        operand.term + "' are for " + std::to_string(operand.term.size() + 1) +
        "\n  hint: its columns are the indices in order, then the value; a query in parentheses chooses them: "
        "'(SELECT i, j, val FROM A)'");
  }
  if (operand.extents && operand.extents->size() != operand.rank()) {
    throw HostError(operand.text + " has " + std::to_string(operand.rank()) + " indices, and " +
                    std::to_string(operand.extents->size()) + " extents are given");
  }
  while (rows.step()) read_row(operand, rows);
}

std::vector<std::int64_t> places_of(const EinsumOperand& operand) {
  std::vector<std::int64_t> places;
  for (std::size_t row = 0; row < operand.rows(); ++row) {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < operand.rank(); ++d) {
      const auto index = operand.indices[row * operand.rank() + d];
      if (index >= operand.shape[d]) {
        throw HostError("column " + operand.columns[d] + " of " + operand.text + " holds " + std::to_string(index) +
                        ", and the extent there is " + std::to_string(operand.shape[d]));
      }
      place = place * static_cast<std::uint64_t>(operand.shape[d]) + static_cast<std::uint64_t>(index);
    }
    places.push_back(static_cast<std::int64_t>(place));
  }
  auto sorted = places;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    const auto first = std::find(places.begin(), places.end(), *twice);
    const auto second = std::find(first + 1, places.end(), *twice);
    throw HostError(operand.text + " has two rows for one cell: row " + std::to_string(second - places.begin() + 1) +
                    " is the second\n  hint: add them up: '(SELECT i, j, SUM(val) FROM A GROUP BY i, j)'");
  }
  return places;
}

void make_array(EinsumOperand& operand, const std::vector<std::int64_t>& places, std::int64_t count) {
  if (operand.has_reals) operand.reals = placed(operand.reals, places, count);
  else operand.integers = placed(operand.integers, places, count);
  operand.indices = {};
}

void load_tensor(eindb::Connection& connection, const EinsumOperand& operand) {
  const auto table = operand.name + "_cells";
  std::string columns;
  std::string extents;
  for (std::size_t d = 0; d < operand.rank(); ++d) {
    columns += 'd' + std::to_string(d) + ", ";
    extents += (d == 0 ? "d" : ", d") + std::to_string(d) + ' ' + std::to_string(operand.shape[d]);
  }
  connection.execute("CREATE TABLE " + table + " (" + columns + "v)");
  std::optional<eindb::Statement> insert;
  std::size_t prepared = 0;  // rows of `insert`
  for (std::size_t begin = 0; begin < operand.rows(); begin += prepared) {
    const auto count = std::min(kInsertedRows, operand.rows() - begin);
    if (count != prepared) {
      std::string text = "INSERT INTO " + table + " VALUES ";
      std::size_t parameter = 0;
      for (std::size_t row = 0; row < count; ++row) {
        text += row == 0 ? "(" : ", (";
        for (std::size_t d = 0; d < operand.columns.size(); ++d)
          text += (d == 0 ? "$" : ", $") + std::to_string(++parameter);
        text += ')';
      }
      insert.emplace(connection.prepare(text));
      prepared = count;
    }
    std::size_t parameter = 0;
    for (std::size_t row = begin; row < begin + count; ++row) {
      for (std::size_t d = 0; d < operand.rank(); ++d)
        insert->bind(++parameter, operand.indices[row * operand.rank() + d]);
      if (!operand.has_reals) insert->bind(++parameter, operand.integers[row]);
      else if (std::isnan(operand.reals[row])) insert->bind(++parameter, nullptr);
      else insert->bind(++parameter, operand.reals[row]);
    }
    insert->execute();
  }
  connection.execute("CREATE TENSOR " + operand.name + " (" + extents + ") " +
                     (operand.has_reals ? "FLOAT64" : "INT64") + " AS SELECT * FROM " + table);
}

}  // namespace eindb_sqlite
