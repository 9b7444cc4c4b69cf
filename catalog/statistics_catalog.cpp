#include "catalog/statistics_catalog.hpp"

#include <cmath>

#include "catalog/catalog_sql.hpp"
#include "common/check.hpp"

namespace eindb {
namespace {

constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS $.eindb_statistics (tensor_id INTEGER PRIMARY KEY, cells INTEGER NOT NULL, sampled);"
    "CREATE TABLE IF NOT EXISTS $.eindb_degrees (tensor_id INTEGER NOT NULL, position INTEGER NOT NULL,"
    " indices INTEGER NOT NULL, degree INTEGER NOT NULL, PRIMARY KEY (tensor_id, position)) WITHOUT ROWID";

bool may_be_true(const DimensionSpread& spread, double cells, std::int64_t extent) {
  if (cells == 0) return spread.indices == 0 && spread.degree == 0;
  return spread.indices >= 1 && spread.degree >= 1 && spread.indices <= static_cast<double>(extent) &&
         spread.indices <= cells && spread.degree <= cells && cells <= spread.indices * spread.degree;
}

bool may_be_true(const TensorStatistics& statistics, const Shape& shape) {
  if (statistics.cells < 0 || statistics.cells > shape.element_count()) return false;
  if (statistics.sampled && !(std::isfinite(*statistics.sampled) && *statistics.sampled >= 1)) return false;
  if (statistics.spread.size() != shape.rank()) return false;
  for (std::size_t d = 0; d < shape.rank(); ++d)
    if (!may_be_true(statistics.spread[d], static_cast<double>(statistics.cells), shape[d])) return false;
  return true;
}

}  // namespace

void StatisticsCatalog::put(const TensorInfo& info, const TensorStatistics& statistics) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  CHECK(may_be_true(statistics, info.shape()), "statistics are of the tensor");
  connection_.execute(in_schema(info.schema, kTables));
  forget(info);
  auto row = connection_.prepare(in_schema(info.schema, "INSERT INTO $.eindb_statistics VALUES (?, ?, ?)"));
  row.bind(1, info.id).bind(2, statistics.cells);
  if (statistics.sampled) row.bind(3, *statistics.sampled);
  else row.bind_null(3);
  row.run();
  auto degrees = connection_.prepare(in_schema(info.schema, "INSERT INTO $.eindb_degrees VALUES (?, ?, ?, ?)"));
  for (std::size_t d = 0; d < statistics.spread.size(); ++d)
    degrees.bind(1, info.id)
        .bind(2, d)
        .bind(3, static_cast<std::int64_t>(statistics.spread[d].indices))
        .bind(4, static_cast<std::int64_t>(statistics.spread[d].degree))
        .run();
}

std::optional<TensorStatistics> StatisticsCatalog::find(const TensorInfo& info) {
  const KeptQuery select(connection_, in_schema(info.schema,
                                                "SELECT cells, sampled FROM $.eindb_statistics WHERE tensor_id = ? AND"
                                                " typeof(cells) = 'integer' AND typeof(sampled) IN ('real', 'null')"));
  select->bind(1, info.id);
  if (!select->step()) return std::nullopt;
  TensorStatistics found{.cells = select->integer(0), .sampled = {}, .spread = {}};
  if (!select->is_null(1)) found.sampled = select->real(1);
  const KeptQuery degrees(connection_, in_schema(info.schema,
                                                 "SELECT position, indices, degree FROM $.eindb_degrees WHERE"
                                                 " tensor_id = ? AND typeof(position) = 'integer' AND"
                                                 " typeof(indices) = 'integer' AND typeof(degree) = 'integer'"
                                                 " ORDER BY position LIMIT ?"));
  degrees->bind(1, info.id).bind(2, kMaxStoredRank + 1);
  while (degrees->step()) {
    if (std::cmp_not_equal(degrees->integer(0), found.spread.size())) return std::nullopt;
    found.spread.push_back({static_cast<double>(degrees->integer(1)), static_cast<double>(degrees->integer(2))});
  }
  return may_be_true(found, info.shape()) ? std::optional(std::move(found)) : std::nullopt;
}

void StatisticsCatalog::forget(const TensorInfo& info) {
  for (const auto* sql :
       {"DELETE FROM $.eindb_statistics WHERE tensor_id = ?", "DELETE FROM $.eindb_degrees WHERE tensor_id = ?"})
    connection_.prepare(in_schema(info.schema, sql)).bind(1, info.id).run();
}

}  // namespace eindb
