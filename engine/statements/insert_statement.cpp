#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/query/region_writer.hpp"
#include "engine/query/sql_cells.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/constant_value.hpp"
#include "engine/statements/growth.hpp"
#include "engine/statements/retold_error.hpp"
#include "engine/statements/statements.hpp"
#include "engine/statements/tensor_analysis.hpp"
#include "storage/cells/cell.hpp"
#include "storage/cells/cell_locator.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/open_tiles.hpp"
#include "storage/tiles/read_snapshot.hpp"

namespace eindb {
namespace {

constexpr std::size_t kRowsPerCheck = 16384;

/// Cells to set, in the order of their rows: keys one behind the other, values, and numbers of rows of a query, from 1.
template <class T>
struct GivenCells {
  std::vector<std::int64_t> keys;
  std::vector<T> values;
  std::vector<std::int64_t> rows;
};

/// A cell to set, with its place in the order of the tiles.
struct PlacedCell {
  CellLocator::Place place;
  std::size_t number;  // among the given ones
};

/// The tensor whose cells are set, and the dimension along which they are appended, whose indices count from its end.
struct Target {
  TensorInfo tensor;
  std::optional<std::size_t> along = {};

  /// Those of the keys that are given.
  DimensionNames names() const {
    auto names = tensor.names;
    if (along) names.set(*along, nullptr);
    return names;
  }
  bool has(std::size_t dimension, std::int64_t index) const {
    return index >= 0 && (dimension == along || index < tensor.shape()[dimension]);
  }
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
  if (std::holds_alternative<std::monostate>(value)) return std::numeric_limits<double>::quiet_NaN();
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

// The index that is called so.
std::int64_t index_called(const ParameterValue& value, const IndexNames& names, const Target& target,
                          std::size_t dimension, SourceSpan span) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* text = std::get_if<std::string>(&value);
  const auto& label = target.tensor.labels[dimension];
  if (integer == nullptr && text == nullptr)
    throw Error(ErrorKind::Value, "the indices of dimension " + label + " have names, which are texts", span);
  if (const auto index = index_named_by(value, names); index >= 0) return index;
  const auto name = integer != nullptr ? std::to_string(*integer) : *text;
  const auto nearest = names.nearest(name);
  throw Error(ErrorKind::Value,
              "no index of dimension " + label + " of " + target.tensor.name + " is called '" + name + "'", span,
              !nearest.empty() ? "did you mean '" + nearest + "'?"
                               : "ALTER TENSOR " + target.tensor.name + " EXTEND (" + label +
                                     (names.is_calendar() ? " FROM ...)" : " IN ('...'))") + " adds names");
}

std::int64_t index_of(const ast::Expression& expression, const NameSource& names, const Target& target,
                      std::size_t dimension) {
  const auto of_indices = target.tensor.names.at(dimension);
  if (of_indices != nullptr && dimension != target.along)
    return index_called(constant_value(expression, names), *of_indices, target, dimension, expression.span);
  const auto value = number_of(expression, names);
  const auto index = to_element<std::int64_t>(value);
  if (!index) {
    throw Error(ErrorKind::Value, "the index " + to_string(value) + " is no integer", expression.span,
                "a key is made of integers");
  }
  if (!target.has(dimension, *index)) {
    const auto& tensor = target.tensor;
    const auto extent = tensor.shape()[dimension];
    throw Error(ErrorKind::Value,
                "index " + std::to_string(*index) + " lies outside dimension " + tensor.labels[dimension] + " of " +
                    tensor.name + ", which has extent " + std::to_string(extent),
                expression.span,
                dimension == target.along ? "the indices of what is appended begin at 0"
                : extent > 0
                    ? "indices go from 0 to " + std::to_string(extent - 1)
                    : "INSERT INTO TENSOR " + tensor.name + " AT (" + tensor.labels[dimension] + ") appends cells");
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

/// The cells of VALUES.
template <class T>
GivenCells<T> read_values(const ast::InsertInto& insert, const Target& target, const NameSource& names,
                          const Cancellation& cancellation) {
  const auto rank = target.tensor.grid.rank();
  GivenCells<T> cells;
  cells.values.reserve(insert.rows.size());
  for (const auto& row : insert.rows) {
    if (cells.values.size() % kRowsPerCheck == 0) cancellation.check();
    if (row.values.size() != rank + 1) wrong_count(row, target.tensor);
    for (std::size_t d = 0; d < rank; ++d) cells.keys.push_back(index_of(row.values[d], names, target, d));
    cells.values.push_back(element_of<T>(row.values[rank], names));
  }
  return cells;
}

[[noreturn]] void fail_in_row(const SqlCells& cells, std::int64_t row, const std::string& what, std::string hint) {
  throw Error(ErrorKind::Value, cells.place(row) + ": " + what, std::nullopt, std::move(hint));
}

void require_inside(const KeyedCell& cell, const Target& target, const SqlCells& cells) {
  const auto& tensor = target.tensor;
  DCHECK(cell.key.size() == tensor.shape().rank(), "a cell has an index for each dimension");
  for (std::size_t d = 0; d < cell.key.size(); ++d) {
    if (target.has(d, cell.key[d])) continue;
    fail_in_row(cells, cell.line, "the key " + key_text(cell.key, 0) + " lies outside of " + tensor.name,
                "its shape is " + tensor.shape().to_string() + ", and indices count from 0");
  }
}

/// Refuses two rows of a query for one cell; the cells are in the order of their places.
template <class T>
void require_distinct(const std::vector<PlacedCell>& placed, const GivenCells<T>& given) {
  const auto same = [](const auto& a, const auto& b) { return a.place.position() == b.place.position(); };
  const auto twice = std::adjacent_find(placed.begin(), placed.end(), same);
  if (twice == placed.end()) return;
  throw Error(ErrorKind::Value,
              "row " + std::to_string(given.rows[std::next(twice)->number]) + " of the query: row " +
                  std::to_string(given.rows[twice->number]) + " has the same key",
              std::nullopt, "GROUP BY the key, with one value for each");
}

/// The cells of a query's rows, which may read the tensor itself.
template <class T>
GivenCells<T> read_rows(const ast::Sql& sql, const Target& target, SessionState& session) {
  constexpr std::int64_t kShareOfMemory = 4;
  const auto& tensor = target.tensor;
  const auto most = static_cast<std::size_t>(session.user.settings.memory_limit() / kShareOfMemory);
  const auto bytes = sizeof(T) + sizeof(PlacedCell) + (tensor.grid.rank() + 1) * sizeof(std::int64_t);
  SqlCells cells(prepare_rows(sql, session, "INSERT INTO TENSOR"), tensor.dtype, tensor.shape(), target.names());
  GivenCells<T> given;
  for (KeyedCell cell; cells.next(cell);) {
    if (given.values.size() * bytes >= most) {
      throw Error(ErrorKind::MemoryLimit, "the rows would take more than a quarter of memory_limit", std::nullopt,
                  "insert a part of them at a time; CREATE TENSOR ... AS SELECT takes any number");
    }
    require_inside(cell, target, cells);
    const auto value = to_element<T>(cell.value);
    if (!value) {
      fail_in_row(cells, cell.line, std::string(name_of(tensor.dtype)) + " cannot hold " + to_string(cell.value),
                  "use a tensor of another type");
    }
    given.keys.insert(given.keys.end(), cell.key.begin(), cell.key.end());
    given.values.push_back(*value);
    given.rows.push_back(cell.line);
  }
  return given;
}

/// The cells in the order of their places. Those with the same place stay in the order of their rows.
template <class T>
std::vector<PlacedCell> place(const GivenCells<T>& given, const TensorInfo& tensor) {
  const auto rank = tensor.grid.rank();
  CellLocator locator(tensor.grid);
  std::vector<PlacedCell> placed;
  placed.reserve(given.values.size());
  for (std::size_t n = 0; n < given.values.size(); ++n)
    placed.push_back({locator.locate(std::span(given.keys).subspan(n * rank, rank)), n});
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.place.position() < b.place.position(); });
  return placed;
}

// The tensor with as many further indices as the appended cells need, at which their keys then are.
TensorInfo grown_for(const Target& target, std::vector<std::int64_t>& keys, SessionState& session) {
  const auto rank = target.tensor.grid.rank();
  const auto d = *target.along;
  auto extents = target.tensor.shape().extents();
  std::int64_t count = 0;
  for (auto n = d; n < keys.size(); n += rank) {
    count = std::max(count, checked_add(keys[n], 1));
    keys[n] = checked_add(keys[n], extents[d]);
  }
  extents[d] = checked_add(extents[d], count);
  return extend_tensor(target.tensor, extents, session);
}

/// Returns the number of cells.
template <class T>
std::size_t set_cells(const ast::InsertInto& insert, const Target& target, SessionState& session) {
  auto& database = session.database;
  const auto& cancellation = session.statement.cancellation();
  auto given =
      insert.query
          ? with_place_of_rows(insert.query->span, [&] { return read_rows<T>(*insert.query, target, session); })
          : read_values<T>(insert, target, database.names(session.statement.parameters()), cancellation);
  const auto tensor = target.along ? grown_for(target, given.keys, session) : target.tensor;
  const auto placed = place(given, tensor);
  if (insert.query) with_place_of_rows(insert.query->span, [&] { require_distinct(placed, given); });
  OpenTiles tiles(database.connection(), tensor.store(), 0, OpenTiles::Content::Stored);
  std::int64_t open_tile = -1;
  for (const auto& [place, number] : placed) {
    if (place.tile_id != open_tile) {
      CHECK(place.tile_id > open_tile && place.tile_id < tensor.grid.tile_count(),
            "cells are set tile by tile, in order");
      cancellation.check();
      open_tile = place.tile_id;
    }
    // If a cell has several values, the last row wins.
    tiles.set(place.tile_id, {place.offset, 1}, reinterpret_cast<const std::byte*>(&given.values[number]));
  }
  tiles.flush();
  return given.values.size();
}

// The values of a query behind those that the tensor has along a dimension: a result with all of its dimensions, or
// without that one, which is one index of it.
std::size_t append(const ast::Query& query, const Target& target, SessionState& session) {
  const auto& tensor = target.tensor;
  const auto d = *target.along;
  auto& database = session.database;
  std::optional<ReadSnapshot> snapshot(std::in_place, database.file,
                                       static_cast<std::size_t>(session.user.settings.threads()));
  const auto planned = plan_query(query, session, {.dtype = tensor.dtype});
  const auto& shape = planned.result_grid().shape();
  const bool is_one = shape.rank() + 1 == tensor.grid.rank();
  BoundRegion region;
  auto extents = tensor.shape().extents();
  bool fits = is_one || shape.rank() == tensor.grid.rank();
  for (std::size_t e = 0, of_result = 0; fits && e < extents.size(); ++e) {
    RegionPlace place{.extent = extents[e]};
    if (e == d) {
      place.offset = extents[e];
      extents[e] = place.extent = checked_add(extents[e], is_one ? 1 : shape[of_result]);
    } else {
      fits = shape[of_result] == extents[e];
    }
    if (e != d || !is_one) {
      place.dimension = of_result++;
      place.step = 1;
    }
    region.places.push_back(place);
  }
  if (!fits) {
    throw Error(ErrorKind::Shape,
                "a result of shape " + shape.to_string() + " cannot be appended to " + tensor.name + " along " +
                    tensor.labels[d] + ", whose shape is " + tensor.shape().to_string(),
                query.span, "the other dimensions have the same extents, in the same order");
  }
  const auto tiles = collect(planned, session, *snapshot);
  snapshot.reset();
  const auto grown = extend_tensor(tensor, extents, session);
  RegionWriter(planned, tiles, session).write(region, {grown, true});
  return static_cast<std::size_t>(shape.element_count());
}

}  // namespace

Result execute_statement(const ast::InsertInto& insert, SessionState& session) {
  const auto admission = insert.query ? session.admit(session.user.settings.memory_limit()) : nullptr;
  SqliteTransaction transaction(session.database.connection());
  const auto tensor = session.database.tensor(insert.tensor);
  with_place(insert.tensor.span, [&] { session.check_right(tensor, Right::Insert); });
  Target target{tensor};
  if (insert.along) target.along = dimension_named(tensor, *insert.along);
  std::size_t rows = 0;
  if (insert.appended) rows = append(*insert.appended, target, session);
  else
    dispatch(tensor.dtype,
             [&](auto type) { rows = set_cells<typename decltype(type)::type>(insert, target, session); });
  if (insert.query) analyze_written(session.database.tensor(insert.tensor), session, static_cast<double>(rows));
  transaction.commit();
  auto result = status_result("INSERT " + std::to_string(rows));
  result.rows_changed = static_cast<std::int64_t>(rows);
  return result;
}

}  // namespace eindb
