#include "catalog/dimension_rows.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "catalog/catalog_sql.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

/// SQLite has no larger values.
constexpr std::int64_t kMostBytesOfTile = 1'000'000'000;

}  // namespace

std::vector<DimensionRow> read_dimensions(SqliteConnection& connection, std::string_view schema,
                                          std::int64_t tensor_id) {
  const KeptQuery select(connection, in_schema(schema,
                                               "SELECT position, label, extent, parts FROM $.eindb_dimensions WHERE "
                                               "tensor_id = ? ORDER BY position LIMIT ?"));
  select->bind(1, tensor_id).bind(2, kMaxStoredRank + 1);
  std::vector<DimensionRow> rows;
  while (select->step()) rows.push_back({select->integer(0), select->text(1), select->integer(2), select->integer(3)});
  return rows;
}

std::string fault_of(const std::vector<DimensionRow>& rows, DType dtype) {
  if (rows.size() > kMaxStoredRank) return "it has more than " + std::to_string(kMaxStoredRank) + " dimensions";
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> parts;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    const auto& row = rows[d];
    const auto dimension = "dimension " + std::to_string(d);
    if (row.position != static_cast<std::int64_t>(d)) return dimension + " is missing";
    if (row.label.empty() || row.label.size() > kMaxNameLength) return dimension + " has no proper label";
    if (row.label.find('\0') != std::string::npos) return dimension + " has no proper label";
    if (row.extent < 0) return dimension + " has extent " + std::to_string(row.extent);
    if (row.parts < 1 || row.parts > std::max<std::int64_t>(1, row.extent))
      return dimension + " of extent " + std::to_string(row.extent) + " is cut into " + std::to_string(row.parts);
    extents.push_back(row.extent);
    parts.push_back(row.parts);
  }
  if (!try_product(parts)) return "it has more tiles than 64 bits can count";
  extents.push_back(static_cast<std::int64_t>(size_of(dtype)));
  return try_product(extents) ? "" : "its size overflows 64 bits";
}

std::vector<std::int64_t> read_edges(SqliteConnection& connection, std::string_view schema, std::int64_t tensor_id,
                                     std::size_t rank, std::string& fault) {
  const KeptQuery select(connection,
                         in_schema(schema, "SELECT position, edge FROM $.eindb_edges WHERE tensor_id = ? LIMIT ?"));
  select->bind(1, tensor_id).bind(2, kMaxStoredRank + 1);
  std::vector<std::int64_t> edges;
  while (select->step()) {
    const auto position = select->integer(0);
    const auto edge = select->integer(1);
    if (position < 0 || std::cmp_greater_equal(position, rank) || edge < 1) {
      fault = "dimension " + std::to_string(position) + " has parts of " + std::to_string(edge);
      return {};
    }
    edges.resize(rank, 0);
    edges[static_cast<std::size_t>(position)] = edge;
  }
  return edges;
}

void insert_edges(SqliteConnection& connection, const TensorInfo& info) {
  if (!info.grid.has_edges()) return;
  connection.execute("CREATE TABLE IF NOT EXISTS " + quote_identifier(info.schema) +
                     ".eindb_edges (tensor_id INTEGER NOT NULL, position INTEGER NOT NULL, edge INTEGER NOT NULL, "
                     "PRIMARY KEY (tensor_id, position)) WITHOUT ROWID");
  auto row = connection.prepare(in_schema(info.schema, "INSERT OR REPLACE INTO $.eindb_edges VALUES (?, ?, ?)"));
  for (std::size_t d = 0; d < info.grid.rank(); ++d)
    if (info.grid.edge(d) != 0) row.bind(1, info.id).bind(2, d).bind(3, info.grid.edge(d)).run();
}

std::string fault_of_edges(const std::vector<std::int64_t>& edges, const std::vector<DimensionRow>& rows, DType dtype) {
  if (edges.empty()) return "";
  std::vector<std::int64_t> room{static_cast<std::int64_t>(size_of(dtype))};
  for (std::size_t d = 0; d < edges.size(); ++d) {
    const auto& row = rows[d];
    if (edges[d] != 0 && row.parts != std::max<std::int64_t>(1, ceil_divide(row.extent, edges[d])))
      return "dimension " + std::to_string(d) + " of extent " + std::to_string(row.extent) + " has " +
             std::to_string(row.parts) + " parts of " + std::to_string(edges[d]);
    room.push_back(edges[d] != 0 ? edges[d] : ceil_divide(std::max<std::int64_t>(1, row.extent), row.parts));
  }
  const auto bytes = try_product(room);
  return bytes && *bytes <= kMostBytesOfTile ? "" : "its tiles are larger than a row can be";
}

}  // namespace eindb
