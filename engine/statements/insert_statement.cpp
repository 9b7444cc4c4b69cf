#include <algorithm>
#include <iterator>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/query/sql_cells.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/constant_value.hpp"
#include "engine/statements/retold_error.hpp"
#include "engine/statements/statements.hpp"
#include "storage/cells/cell.hpp"
#include "storage/cells/cell_locator.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/open_tiles.hpp"

namespace eindb {
namespace {

constexpr std::size_t kRowsPerCheck = 16384;

/// A cell to set, with its place in the order of the tiles.
template <class T>
struct PlacedValue {
  CellLocator::Place place;
  T value;
  std::int64_t row = 0;  // of a query, from 1
};

// A real literal with its sign; most values are literals.
std::optional<double> written_real(const ast::Expression& e) {
  if (const auto* real = std::get_if<ast::Real>(&e.node)) return real->value;
  const auto* prefix = std::get_if<ast::Prefix>(&e.node);
  if (prefix == nullptr || prefix->op != ast::PrefixOp::Negate) return std::nullopt;
  const auto* real = std::get_if<ast::Real>(&prefix->operand.front().node);
  return real == nullptr ? std::nullopt : std::optional(-real->value);
}

CellValue number_of(const ast::Expression& expression, const NameSource& names) {
  if (const auto real = written_real(expression)) return *real;
  const auto value = constant_value(expression, names);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* complex = std::get_if<std::complex<double>>(&value)) return *complex;
  if (std::holds_alternative<std::monostate>(value)) {
    throw Error(ErrorKind::NullValue, "a number is wanted here, not NULL", expression.span,
                "a tensor holds no NULL: give NAN or 0");
  }
  throw Error(ErrorKind::Value, "a number is wanted here, not text", expression.span, "give a number as parameter");
}

[[noreturn]] void wrong_count(const ast::InsertRow& row, const TensorInfo& tensor) {
  std::string columns;
  for (const auto& label : tensor.labels) columns += label + ", ";
  const auto given = row.values.size();
  throw Error(ErrorKind::Value,
              "a row of " + std::to_string(given) + (given == 1 ? " value" : " values") + ", but tensor " +
                  tensor.name + " takes " + std::to_string(tensor.grid.rank() + 1),
              row.span, "(" + columns + "value)");
}

std::int64_t index_of(const ast::Expression& expression, const NameSource& names, const TensorInfo& tensor,
                      std::size_t dimension) {
  const auto value = number_of(expression, names);
  const auto index = to_element<std::int64_t>(value);
  if (!index) {
    throw Error(ErrorKind::Value, "the index " + to_string(value) + " is no integer", expression.span,
                "a key is made of integers");
  }
  const auto extent = tensor.shape()[dimension];
  if (*index < 0 || *index >= extent) {
    throw Error(ErrorKind::Value,
                "index " + std::to_string(*index) + " lies outside dimension " + tensor.labels[dimension] + " of " +
                    tensor.name + ", which has extent " + std::to_string(extent),
                expression.span, extent > 0 ? "indices go from 0 to " + std::to_string(extent - 1) : "");
  }
  return *index;
}

template <class T>
T element_of(const ast::Expression& expression, const NameSource& names) {
  const auto value = number_of(expression, names);
  if (const auto element = to_element<T>(value)) return *element;
  throw Error(ErrorKind::Value, std::string(name_of(dtype_of<T>)) + " cannot hold " + to_string(value), expression.span,
              "use a tensor of another type");
}

/// Puts values in the order of their places. Values for the same cell stay in the order of their rows.
template <class T>
void sort_by_place(std::vector<PlacedValue<T>>& values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const auto& a, const auto& b) { return a.place.position() < b.place.position(); });
}

/// The values of VALUES, in the order of their places.
template <class T>
std::vector<PlacedValue<T>> place_values(const ast::InsertInto& insert, const TensorInfo& tensor,
                                         const NameSource& names, const Cancellation& cancellation) {
  const auto rank = tensor.grid.rank();
  CellLocator locator(tensor.grid);
  std::vector<PlacedValue<T>> placed;
  placed.reserve(insert.rows.size());
  std::vector<std::int64_t> key(rank);
  for (const auto& row : insert.rows) {
    if (placed.size() % kRowsPerCheck == 0) cancellation.check();
    if (row.values.size() != rank + 1) wrong_count(row, tensor);
    for (std::size_t d = 0; d < rank; ++d) key[d] = index_of(row.values[d], names, tensor, d);
    placed.push_back({locator.locate(key), element_of<T>(row.values[rank], names)});
  }
  sort_by_place(placed);
  return placed;
}

[[noreturn]] void fail_in_row(const SqlCells& cells, std::int64_t row, const std::string& what, std::string hint) {
  throw Error(ErrorKind::Value, cells.place(row) + ": " + what, std::nullopt, std::move(hint));
}

void require_inside(const KeyedCell& cell, const TensorInfo& tensor, const SqlCells& cells) {
  DCHECK(cell.key.size() == tensor.shape().rank(), "a cell has an index for each dimension");
  for (std::size_t d = 0; d < cell.key.size(); ++d) {
    if (cell.key[d] >= 0 && cell.key[d] < tensor.shape()[d]) continue;
    fail_in_row(cells, cell.line, "the key " + key_text(cell.key, 0) + " lies outside of " + tensor.name,
                "its shape is " + tensor.shape().to_string() + ", and indices count from 0");
  }
}

/// The cells of a query's rows, which may read the tensor itself, in the order of their places.
template <class T>
std::vector<PlacedValue<T>> place_rows(const ast::Sql& sql, const TensorInfo& tensor, SessionState& session) {
  constexpr std::int64_t kShareOfMemory = 4;
  const auto most = static_cast<std::size_t>(session.user.settings.memory_limit() / kShareOfMemory);
  SqlCells cells(prepare_rows(sql, session, "INSERT INTO TENSOR"), tensor.dtype, tensor.shape());
  CellLocator locator(tensor.grid);
  std::vector<PlacedValue<T>> placed;
  for (KeyedCell cell; cells.next(cell);) {
    if (placed.size() * sizeof(PlacedValue<T>) >= most) {
      throw Error(ErrorKind::MemoryLimit, "the rows would take more than a quarter of memory_limit", std::nullopt,
                  "insert a part of them at a time; CREATE TENSOR ... AS SELECT takes any number");
    }
    require_inside(cell, tensor, cells);
    const auto value = to_element<T>(cell.value);
    if (!value) {
      fail_in_row(cells, cell.line, std::string(name_of(tensor.dtype)) + " cannot hold " + to_string(cell.value),
                  "use a tensor of another type");
    }
    placed.push_back({locator.locate(cell.key), *value, cell.line});
  }
  sort_by_place(placed);
  const auto same = [](const auto& a, const auto& b) { return a.place.position() == b.place.position(); };
  const auto twice = std::adjacent_find(placed.begin(), placed.end(), same);
  if (twice != placed.end()) {
    fail_in_row(cells, std::next(twice)->row, "row " + std::to_string(twice->row) + " has the same key",
                "GROUP BY the key, with one value for each");
  }
  return placed;
}

/// Returns the number of rows.
template <class T>
std::size_t set_cells(const ast::InsertInto& insert, const TensorInfo& tensor, SessionState& session) {
  auto& database = session.database;
  const auto& cancellation = session.statement.cancellation();
  const auto values =
      insert.query
          ? with_place_of_rows(insert.query->span, [&] { return place_rows<T>(*insert.query, tensor, session); })
          : place_values<T>(insert, tensor, database.names(session.statement.parameters()), cancellation);
  OpenTiles tiles(database.connection(), tensor.store(), 0, OpenTiles::Content::Stored);
  std::int64_t open_tile = -1;
  T* cells = nullptr;
  for (const auto& [place, value, row] : values) {
    if (place.tile_id != open_tile) {
      CHECK(place.tile_id > open_tile && place.tile_id < tensor.grid.tile_count(),
            "cells are set tile by tile, in order");
      cancellation.check();
      open_tile = place.tile_id;
      cells = tiles.open(open_tile).template mutable_data<T>();
    }
    DCHECK(cells != nullptr && place.offset >= 0 &&
               place.offset < tensor.grid.tile_shape(tensor.grid.key_of(open_tile)).element_count(),
           "a cell that is set lies in its tile");
    cells[place.offset] = value;  // if a cell has several values, the last row wins
  }
  tiles.flush();
  return values.size();
}

}  // namespace

Result execute_statement(const ast::InsertInto& insert, SessionState& session) {
  const auto admission = insert.query ? session.admit(session.user.settings.memory_limit()) : nullptr;
  SqliteTransaction transaction(session.database.connection());
  const auto tensor = session.database.tensor(insert.tensor);
  with_place(insert.tensor.span, [&] { session.check_right(tensor, Right::Insert); });
  std::size_t rows = 0;
  dispatch(tensor.dtype, [&](auto type) { rows = set_cells<typename decltype(type)::type>(insert, tensor, session); });
  transaction.commit();
  auto result = status_result("INSERT " + std::to_string(rows));
  result.rows_changed = static_cast<std::int64_t>(rows);
  return result;
}

}  // namespace eindb
