#include "catalog/name_catalog.hpp"

#include <string>
#include <utility>
#include <vector>

#include "catalog/catalog_sql.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr const char* kNameTables =
    "CREATE TABLE IF NOT EXISTS $.eindb_axes (tensor_id INTEGER NOT NULL, position INTEGER NOT NULL,"
    " first TEXT, step TEXT, PRIMARY KEY (tensor_id, position)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS $.eindb_index_names (tensor_id INTEGER NOT NULL, position INTEGER NOT NULL,"
    " number INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (tensor_id, position, number)) WITHOUT ROWID";

}  // namespace

void NameCatalog::put(const TensorInfo& info) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  connection_.execute(in_schema(info.schema, kNameTables));
  forget(info);
  auto axis = connection_.prepare(in_schema(info.schema, "INSERT INTO $.eindb_axes VALUES (?, ?, ?, ?)"));
  auto row = connection_.prepare(in_schema(info.schema, "INSERT INTO $.eindb_index_names VALUES (?, ?, ?, ?)"));
  for (std::size_t d = 0; d < info.grid.rank(); ++d) {
    const auto names = info.names.at(d);
    if (names == nullptr) continue;
    CHECK(names->size() == info.shape()[d], "each index of a dimension with names has one");
    axis.bind(1, info.id).bind(2, d);
    if (names->is_calendar()) axis.bind(3, names->first()).bind(4, names->step());
    else axis.bind_null(3).bind_null(4);
    axis.run();
    if (names->is_calendar()) continue;
    for (std::int64_t n = 0; n < names->size(); ++n)
      row.bind(1, info.id).bind(2, d).bind(3, n).bind(4, names->name(n)).run();
  }
}

std::vector<std::string> NameCatalog::read_list(const TensorInfo& info, std::int64_t position) {
  const auto extent = info.shape()[static_cast<std::size_t>(position)];
  const KeptQuery select(connection_, in_schema(info.schema,
                                                "SELECT number, name FROM $.eindb_index_names WHERE tensor_id = ? AND"
                                                " position = ? ORDER BY number LIMIT ?"));
  // A file that comes from anywhere may have more rows than there are indices.
  select->bind(1, info.id).bind(2, position).bind(3, extent);
  std::vector<std::string> list;
  while (select->step() && std::cmp_equal(select->integer(0), list.size())) list.push_back(select->text(1));
  if (std::cmp_equal(list.size(), extent)) return list;
  throw Error(ErrorKind::Value, "index " + std::to_string(list.size()) + " of it has no name");
}

DimensionNames NameCatalog::find(const TensorInfo& info, std::string& fault) {
  const KeptQuery axes(connection_, in_schema(info.schema,
                                              "SELECT position, first, step FROM $.eindb_axes WHERE tensor_id = ?"
                                              " ORDER BY position LIMIT ?"));
  axes->bind(1, info.id).bind(2, kMaxStoredRank + 1);
  DimensionNames found;
  while (axes->step()) {
    const auto position = axes->integer(0);
    try {
      if (position < 0 || std::cmp_greater_equal(position, info.grid.rank()))
        throw Error(ErrorKind::Value, "it is not there");
      const auto d = static_cast<std::size_t>(position);
      found.set(d, axes->is_null(1) ? IndexNames::listed(read_list(info, position))
                                    : IndexNames::calendar(axes->text(1), axes->text(2), info.shape()[d]));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Value) throw;
      fault = "the names of dimension " + std::to_string(position) + ": " + error.what();
      return {};
    }
  }
  return found;
}

void NameCatalog::forget(const TensorInfo& info) {
  for (const auto* sql :
       {"DELETE FROM $.eindb_axes WHERE tensor_id = ?", "DELETE FROM $.eindb_index_names WHERE tensor_id = ?"})
    connection_.prepare(in_schema(info.schema, sql)).bind(1, info.id).run();
}

}  // namespace eindb
