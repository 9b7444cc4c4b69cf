#include "catalog/catalog.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "catalog/catalog_sql.hpp"
#include "catalog/comment_catalog.hpp"
#include "catalog/dimension_rows.hpp"
#include "catalog/grant_catalog.hpp"
#include "catalog/name_catalog.hpp"
#include "catalog/stored_tiles.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "storage/cells/tensor_table.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/sqlite/schema_version.hpp"
#include "storage/tiles/stored_references.hpp"

namespace eindb {
namespace {

constexpr const char* kTensors =
    ".eindb_tensors ("
    "tensor_id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE UNIQUE, dtype TEXT NOT NULL);";
constexpr const char* kDimensions =
    ".eindb_dimensions ("
    "tensor_id INTEGER NOT NULL, position INTEGER NOT NULL, label TEXT NOT NULL, extent INTEGER NOT NULL,"
    " parts INTEGER NOT NULL, PRIMARY KEY (tensor_id, position)) WITHOUT ROWID;";
constexpr const char* kSettings =
    "CREATE TABLE IF NOT EXISTS main.eindb_settings (name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;";

/// The pages of temporary tensors are as large as those of the database, and go to a file of the system's temporary
/// ones when there are more than these.
constexpr const char* kTemporaryPages = "PRAGMA temp.page_size = 65536; PRAGMA temp.cache_size = -16384";

std::string create_tables(std::string_view schema) {
  const std::string create = "CREATE TABLE IF NOT EXISTS " + std::string(schema);
  return create + kTensors + create + kDimensions;
}

/// The rest of a name behind the schema and a point; nullopt if it does not begin so.
std::optional<std::string_view> behind_schema(std::string_view name, std::string_view schema) {
  if (name.size() < schema.size() + 2 || name[schema.size()] != '.') return std::nullopt;
  if (!equal_ignoring_case(name.substr(0, schema.size()), schema)) return std::nullopt;
  return name.substr(schema.size() + 1);
}

/// The schemas of the session and of the database, in the order in which SQLite looks for names.
constexpr std::array kSchemas{kTemporarySchema, kMainSchema};
bool is_attached(std::string_view schema) { return schema != kTemporarySchema && schema != kMainSchema; }

TensorInfo qualified(TensorInfo info) {
  info.name = info.schema + "." + info.name;
  info.is_qualified = true;
  return info;
}

[[noreturn]] void refuse_sharded(const TensorInfo& tensor) {
  throw Error(ErrorKind::Unsupported,
              "tensor " + tensor.name + " lies at the workers of its own database, which is only attached here",
              std::nullopt,
              "open that database with its workers, and COPY " + tensor.own_name() + " TO a file that COPY reads here");
}

constexpr std::size_t kRememberedTensors = 10'000;
constexpr std::size_t kTensorsLookedUpOneByOne = 100;  // as long as nothing changes

constexpr const char* kStagedPrefix = "eindb_staged_";

/// Staged tensors have names of this form and are left out of lists.
constexpr const char* kVisible = " WHERE name NOT LIKE 'eindb\\_%' ESCAPE '\\' ORDER BY name COLLATE NOCASE";

}  // namespace

void Catalog::corrupt(std::string_view schema, const std::string& tensor, const std::string& what) const {
  throw Error(ErrorKind::Corrupt,
              connection_.file_of(schema) + ": the catalog's entry of tensor " + tensor + " is damaged: " + what,
              std::nullopt,
              is_attached(schema) ? "restore that database from a copy, or DETACH " + std::string(schema)
                                  : "restore the database from a copy");
}

bool Catalog::exists(std::string_view schema) {
  return connection_.has_table("eindb_tensors", {"tensor_id", "name", "dtype"}, schema) &&
         connection_.has_table("eindb_dimensions", {"tensor_id", "position", "label", "extent", "parts"}, schema);
}

bool Catalog::known_to_exist(std::string_view schema) {
  auto known = memory_.exists.find(schema);
  if (known == memory_.exists.end()) known = memory_.exists.emplace(schema, exists(schema)).first;
  return known->second;
}

Catalog::Schemas Catalog::schemas() const {
  Schemas out(kSchemas.begin(), kSchemas.end());
  for (auto& database : connection_.attached()) out.push_back(std::move(database.schema));
  return out;
}

void Catalog::require_tables(std::string_view schema) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (exists(schema)) return;
  if (schema == kTemporarySchema) connection_.execute(kTemporaryPages);
  connection_.execute(create_tables(schema));
  if (schema != kMainSchema) return;
  connection_.execute(kSettings);
  connection_
      .prepare(
          "INSERT INTO main.eindb_settings VALUES ('schema_version', ?)"
          " ON CONFLICT (name) DO UPDATE SET value = MAX(value, excluded.value)")
      .bind(1, kSchemaVersion)
      .run();
}

// Every change of a tensor here also changes its table of tiles, so writing tiles keeps the cache. Asking for the
// version makes SQLite notice the commits of others.
void Catalog::forget_if_changed() {
  const auto now = version();
  const auto others = connection_.commits_of_others();
  const bool same = memory_.version == now && memory_.commits_of_others == others;
  if (!same) memory_ = {.version = now, .commits_of_others = others};
  else if (memory_.tensors.size() >= kRememberedTensors) memory_.tensors.clear();
}

std::optional<TensorInfo> Catalog::find(std::string_view name) {
  forget_if_changed();
  const auto* found = remembered(name);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

const TensorInfo* Catalog::remembered(std::string_view name) {
  auto key = to_lower(name);
  if (const auto known = memory_.tensors.find(key); known != memory_.tensors.end()) return &known->second;
  auto found = look_up(name, schemas());
  if (!found) return nullptr;
  if (found->is_foreign() && found->is_sharded()) refuse_sharded(*found);
  return &memory_.tensors.emplace(std::move(key), *std::move(found)).first->second;
}

std::optional<TensorInfo> Catalog::find_own(std::string_view name) {
  forget_if_changed();
  return look_up(name, Schemas(kSchemas.begin(), kSchemas.end()));
}

std::optional<TensorInfo> Catalog::find_in(std::string_view schema, std::string_view own_name) {
  forget_if_changed();
  auto found = look_up_in(schema, own_name);
  if (found && schema == kMainSchema && look_up_in(kTemporarySchema, own_name)) return qualified(std::move(*found));
  return found;
}

std::optional<TensorInfo> Catalog::look_up(std::string_view name, const Schemas& schemas) {
  std::optional<TensorInfo> found;
  for (auto schema = schemas.begin(); !found && schema != schemas.end(); ++schema) found = look_up_in(*schema, name);
  for (const auto& schema : schemas) {
    const auto own_name = behind_schema(name, schema);
    auto other = own_name ? find_in(schema, *own_name) : std::nullopt;
    if (found && other) {
      throw Error(ErrorKind::DuplicateName,
                  "a tensor is named " + found->name + ", and one named " + other->own_name() + " is in the schema " +
                      other->schema,
                  std::nullopt, "give one of them another name: ALTER TENSOR ... RENAME TO");
    }
    if (other) found = std::move(other);
  }
  return found;
}

// SQLite takes time in the number of all tables to find one by its name, so each question is asked once.
std::optional<TensorInfo> Catalog::look_up_in(std::string_view schema, std::string_view own_name) {
  if (!known_to_exist(schema)) return std::nullopt;
  const KeptQuery select(
      connection_,
      in_schema(schema, "SELECT tensor_id, name, dtype FROM $.eindb_tensors WHERE name = ? COLLATE NOCASE LIMIT 1"));
  select->bind(1, own_name);
  if (!select->step()) return std::nullopt;
  auto info = read(schema, select->integer(0), select->text(1), select->text(2));
  return is_attached(schema) ? qualified(std::move(info)) : std::move(info);
}

TensorInfo Catalog::read(std::string_view schema, std::int64_t id, std::string name, const std::string& dtype_name) {
  if (name.empty() || name.size() > kMaxNameLength || name.find('\0') != std::string::npos)
    corrupt(schema, "number " + std::to_string(id), "it has no proper name");
  const auto type = parse_stored_type(dtype_name);
  if (!type) corrupt(schema, name, "its type is unknown");
  const auto rows = read_dimensions(connection_, schema, id);
  if (const auto fault = fault_of(rows, type->values); !fault.empty()) corrupt(schema, name, fault);
  if (!has_tiles(schema, name)) corrupt(schema, name, "its table of tiles is missing");

  const auto replicas = schema == kTemporarySchema ? 0 : read_replicas(schema, id, name);
  std::vector<std::string> labels;
  std::vector<std::int64_t> extents;
  Partition parts;
  for (const auto& row : rows) {
    labels.push_back(row.label);
    extents.push_back(row.extent);
    parts.push_back(row.parts);
  }
  std::string fault;
  std::vector<std::int64_t> edges;
  if (has_edges(schema)) edges = read_edges(connection_, schema, id, rows.size(), fault);
  if (fault.empty()) fault = fault_of_edges(edges, rows, type->values);
  if (!fault.empty()) corrupt(schema, name, fault);
  TensorInfo info{.id = id,
                  .name = std::move(name),
                  .dtype = type->values,
                  .labels = std::move(labels),
                  .grid = edges.empty() ? TileGrid(Shape(std::move(extents)), std::move(parts))
                                        : TileGrid(Shape(std::move(extents)), std::move(parts), edges),
                  .replicas = replicas,
                  .schema = std::string(schema),
                  .encoding = type->encoding,
                  .formats = formats_};
  if (!has_names(schema)) return info;
  info.names = NameCatalog(connection_).find(info, fault);
  if (!fault.empty()) corrupt(schema, info.name, fault);
  return info;
}

// SQLite looks for one table among many by comparing the names of a hundredth of them, which a query over tens of
// thousands of tensors would do for each. Such a query reads the names once; a table without its columns is then found
// out when its tiles are read.
bool Catalog::has_tiles(std::string_view schema, const std::string& tensor) {
  const auto table = TileStore::table_of(tensor);
  if (memory_.tensors.size() < kTensorsLookedUpOneByOne && memory_.tables.empty())
    return connection_.has_table(table, {"tile_id", "tile"}, schema);
  auto known = memory_.tables.find(schema);
  if (known == memory_.tables.end()) {
    known = memory_.tables.emplace(schema, std::unordered_set<std::string>()).first;
    auto names = connection_.prepare(in_schema(schema, "SELECT name FROM $.sqlite_schema WHERE type = 'table'"));
    while (names.step()) known->second.insert(to_lower(names.text(0)));
  }
  return known->second.contains(to_lower(table));
}

// SQLite takes time in the number of all tables to say whether it has one.
bool Catalog::has_own(std::string_view schema, const std::string& table, std::initializer_list<const char*> columns) {
  auto& known = memory_.has_own[table];
  auto found = known.find(schema);
  if (found == known.end()) found = known.emplace(schema, connection_.has_table(table, columns, schema)).first;
  return found->second;
}

bool Catalog::has_shardings(std::string_view schema) {
  return has_own(schema, "eindb_shardings", {"tensor_id", "replicas"});
}

bool Catalog::has_edges(std::string_view schema) {
  return has_own(schema, "eindb_edges", {"tensor_id", "position", "edge"});
}

bool Catalog::has_names(std::string_view schema) {
  return has_own(schema, "eindb_axes", {"tensor_id", "position", "first", "step"}) &&
         has_own(schema, "eindb_index_names", {"tensor_id", "position", "number", "name"});
}

bool Catalog::has_statistics(std::string_view schema) {
  return has_own(schema, "eindb_statistics", {"tensor_id", "cells", "sampled"}) &&
         has_own(schema, "eindb_degrees", {"tensor_id", "position", "indices", "degree"});
}

// Caches of this connection and of others ask for the version of the schema, and SQLite compiles statements again.
void Catalog::announce_change(std::string_view schema) {
  const auto table = quote_identifier(schema) + ".eindb_changed";
  connection_.execute("CREATE TABLE " + table + " (x); DROP TABLE " + table);
  memory_ = {};
}

TensorInfo Catalog::extend(const TensorInfo& info, const TileGrid& grid, const DimensionNames& names) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  CHECK(!info.is_sharded() && grid.rank() == info.grid.rank(), "a tensor of the file gets longer dimensions");
  check_storable(grid.shape(), info.dtype);
  hide_in_sql(info);
  auto row = connection_.prepare(in_schema(
      info.schema, "UPDATE $.eindb_dimensions SET extent = ?, parts = ? WHERE tensor_id = ? AND position = ?"));
  bool renumbers = false;
  for (std::size_t d = 0; d < grid.rank(); ++d) {
    CHECK(grid.shape()[d] >= info.grid.shape()[d], "no dimension gets shorter");
    renumbers = renumbers || (d > 0 && grid.partition()[d] != info.grid.partition()[d]);
    row.bind(1, grid.shape()[d]).bind(2, grid.partition()[d]).bind(3, info.id).bind(4, d).run();
  }
  auto extended = info;
  extended.grid = grid;
  connection_
      .prepare(in_schema(info.schema, has_edges(info.schema) ? "DELETE FROM $.eindb_edges WHERE tensor_id = ?"
                                                             : "SELECT 1 WHERE ? < 0"))
      .bind(1, info.id)
      .run();
  insert_edges(connection_, extended);
  extended.names = names;
  if (!names.empty()) NameCatalog(connection_).put(extended);
  if (renumbers) extended.store().renumber(connection_);
  show_in_sql(extended);  // with its new extents
  announce_change(info.schema);
  return extended;
}

int Catalog::read_replicas(std::string_view schema, std::int64_t tensor_id, const std::string& name) {
  if (!has_shardings(schema)) return 0;
  auto select = connection_.prepare(in_schema(schema, "SELECT replicas FROM $.eindb_shardings WHERE tensor_id = ?"));
  select.bind(1, tensor_id);
  if (!select.step()) return 0;
  const auto replicas = select.integer(0);
  if (replicas < 1 || replicas > static_cast<std::int64_t>(TileReference::kMaxWorkers))
    corrupt(schema, name, "it has " + std::to_string(replicas) + " copies at workers");
  return static_cast<int>(replicas);
}

TensorInfo Catalog::get(std::string_view name) {
  if (auto info = find(name)) return std::move(*info);
  refuse_unknown(name);
}

std::vector<const TensorInfo*> Catalog::get_all(const std::vector<std::string_view>& names) {
  if (!names.empty()) forget_if_changed();
  std::vector<const TensorInfo*> out;
  out.reserve(names.size());
  for (const auto name : names) {
    out.push_back(remembered(name));
    if (out.back() == nullptr) refuse_unknown(name);
  }
  return out;
}

void Catalog::refuse_unknown(std::string_view name) {
  const auto known = names();
  const auto nearest = nearest_name(name, std::span<const std::string>(known));
  std::string hint = nearest ? "did you mean " + *nearest + "?" : "SHOW TENSORS lists those that exist";
  if (known.empty()) hint = "the database holds no tensors yet; CREATE TENSOR or COPY makes one";
  const auto schema = name.substr(0, std::min(name.find('.'), name.size()));
  if (!nearest && schema.size() < name.size() && !connection_.has_schema(std::string(schema)))
    hint = "no database is attached as " + std::string(schema) + ": ATTACH 'file' AS " + std::string(schema);
  throw Error(ErrorKind::UnknownName, "there is no tensor " + std::string(name), std::nullopt, std::move(hint));
}

std::vector<std::string> Catalog::names_in(std::string_view schema) {
  forget_if_changed();
  std::vector<std::string> out;
  if (!known_to_exist(schema)) return out;
  auto select = connection_.prepare(in_schema(schema, "SELECT name FROM $.eindb_tensors") + kVisible);
  while (select.step()) out.push_back(select.text(0));
  return out;
}

std::vector<std::string> Catalog::names() {
  auto out = own_names();
  for (const auto& [schema, path] : connection_.attached())
    for (const auto& name : readable_names(schema)) out.push_back(schema + "." + name);
  return out;
}

// Reads no entries, of which one may be damaged: names are asked for in order to tell of another error.
std::vector<std::string> Catalog::readable_names(std::string_view schema) {
  forget_if_changed();
  if (!known_to_exist(schema) || !has_shardings(schema)) return names_in(schema);
  std::vector<std::string> out;
  auto select =
      connection_.prepare(in_schema(schema,
                                    "SELECT name FROM (SELECT name FROM $.eindb_tensors WHERE tensor_id NOT IN"
                                    " (SELECT tensor_id FROM $.eindb_shardings))") +
                          kVisible);
  while (select.step()) out.push_back(select.text(0));
  return out;
}

std::vector<std::string> Catalog::own_names() {
  forget_if_changed();
  auto out = names_in(kMainSchema);
  auto temporary = names_in(kTemporarySchema);
  if (temporary.empty()) return out;
  const auto before = [](const std::string& a, const std::string& b) { return to_lower(a) < to_lower(b); };
  for (auto& name : out)
    if (std::binary_search(temporary.begin(), temporary.end(), name, before)) name = "main." + name;
  out.insert(out.end(), std::make_move_iterator(temporary.begin()), std::make_move_iterator(temporary.end()));
  std::sort(out.begin(), out.end(), before);
  return out;
}

std::vector<TensorSummary> Catalog::list() {
  std::vector<TensorSummary> out;
  for (const auto& name : own_names())
    if (const auto info = find(name)) out.push_back(count_stored(connection_, *info));
  for (const auto& [schema, path] : connection_.attached())
    for (const auto& name : names_in(schema))
      if (const auto info = find_in(schema, name)) out.push_back(count_stored(connection_, *info));
  return out;
}

void Catalog::write_tiles_in(FormatChoice formats) {
  if (std::exchange(formats_, formats) != formats) memory_ = {};
}

double Catalog::present(const TensorInfo& info) { return present_share(connection_, info); }

std::optional<TensorStatistics> Catalog::statistics(const TensorInfo& info) {
  forget_if_changed();
  return has_statistics(info.schema) ? StatisticsCatalog(connection_).find(info) : std::nullopt;
}

std::optional<CellEstimate> Catalog::stored_cells(const TensorInfo& info) {
  constexpr double kNear = 2;
  const auto sampled = sampled_cells(connection_, info);
  if (!sampled) return std::nullopt;
  const auto known = statistics(info);
  if (!known || !known->sampled || *sampled > kNear * *known->sampled || *known->sampled > kNear * *sampled)
    return CellEstimate{*sampled, {}};
  return CellEstimate{std::max(1.0, static_cast<double>(known->cells)), known->spread};
}

void Catalog::put_statistics(const TensorInfo& info, std::int64_t cells, CellSpread spread) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  StatisticsCatalog(connection_).put(info, {cells, sampled_cells(connection_, info), std::move(spread)});
}

void Catalog::require_free(const std::string& name) {
  for (const auto schema : kSchemas) check_free(schema, name, std::nullopt);
}

void Catalog::check_free(std::string_view schema, const std::string& name, std::optional<std::int64_t> except) {
  check_tensor_name(name);
  const auto present = find_in(schema, name);
  if (present && present->id != except) {
    throw Error(ErrorKind::DuplicateName, "a tensor " + present->name + " exists already", std::nullopt,
                "drop it first, or use another name");
  }
  if (present) return;
  const KeptQuery select(
      connection_,
      in_schema(schema,
                "SELECT type, name FROM $.sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')"));
  select->bind(1, name);
  if (!select->step()) return;
  throw Error(ErrorKind::DuplicateName, "a " + select->text(0) + " " + select->text(1) + " exists already",
              std::nullopt, "use another name: SQL sees tensors and tables side by side");
}

TensorInfo Catalog::create(const std::string& name, StoredType type, const std::vector<std::string>& labels,
                           const TileGrid& grid, int replicas, std::string_view schema, const DimensionNames& names) {
  require_tables(schema);
  check_free(schema, name, std::nullopt);
  auto info = insert(name, type, labels, grid, replicas, schema, names);
  show_in_sql(info);
  return info;
}

TensorInfo Catalog::insert(const std::string& name, StoredType type, const std::vector<std::string>& labels,
                           const TileGrid& grid, int replicas, std::string_view schema, const DimensionNames& names) {
  CHECK(labels.size() == grid.rank(), "a tensor has one label per dimension");
  for (const auto& label : labels) check_label_name(label);
  check_storable(grid.shape(), type.values);
  connection_.prepare(in_schema(schema, "INSERT INTO $.eindb_tensors (name, dtype) VALUES (?, ?)"))
      .bind(1, name)
      .bind(2, name_of(type))
      .run();
  TensorInfo info{.id = connection_.last_insert_rowid(),
                  .name = name,
                  .dtype = type.values,
                  .labels = labels,
                  .grid = grid,
                  .replicas = replicas,
                  .schema = std::string(schema),
                  .encoding = type.encoding,
                  .formats = formats_,
                  .names = names};
  if (info.is_sharded()) insert_sharding(info);
  auto row = connection_.prepare(in_schema(schema, "INSERT INTO $.eindb_dimensions VALUES (?, ?, ?, ?, ?)"));
  for (std::size_t d = 0; d < labels.size(); ++d)
    row.bind(1, info.id).bind(2, d).bind(3, labels[d]).bind(4, grid.shape()[d]).bind(5, grid.partition()[d]).run();
  insert_edges(connection_, info);
  if (!names.empty()) NameCatalog(connection_).put(info);
  info.store().create(connection_);
  return info;
}

void Catalog::insert_sharding(const TensorInfo& info) {
  CHECK(info.schema == kMainSchema, "only tensors of the database itself lie at workers");
  ShardLog(connection_).create();
  connection_.execute(
      "CREATE TABLE IF NOT EXISTS main.eindb_shardings (tensor_id INTEGER PRIMARY KEY, replicas INTEGER NOT NULL)");
  connection_.prepare("INSERT INTO main.eindb_shardings VALUES (?, ?)").bind(1, info.id).bind(2, info.replicas).run();
}

// Comments and grants are on what all sessions see.
void Catalog::drop(const TensorInfo& info) {
  require_tables(info.schema);
  remove(info);
  if (info.is_temporary()) return;
  CommentCatalog(connection_).forget(info.own_name());
  GrantCatalog(connection_).forget(info.own_name());
}

// Tensors of the database become visible to SQL when a statement names them.
void Catalog::show_in_sql(const TensorInfo& info) {
  if (!info.is_temporary()) return;
  CHECK(!info.name.starts_with(kStagedPrefix), "a tensor is shown once it has its name");
  connection_.execute("CREATE VIRTUAL TABLE temp." + quote_identifier(info.own_name()) + " USING " +
                      std::string(kTemporaryModule));
}

void Catalog::hide_in_sql(const TensorInfo& info) {
  const auto name = info.own_name();
  if (info.is_temporary() && !name.starts_with(kStagedPrefix))
    connection_.execute("DROP TABLE temp." + quote_identifier(name));
}

void Catalog::remove(const TensorInfo& info) {
  hide_in_sql(info);
  for (const auto* sql :
       {"DELETE FROM $.eindb_tensors WHERE tensor_id = ?", "DELETE FROM $.eindb_dimensions WHERE tensor_id = ?"})
    connection_.prepare(in_schema(info.schema, sql)).bind(1, info.id).run();
  if (info.is_sharded())
    connection_.prepare("DELETE FROM main.eindb_shardings WHERE tensor_id = ?").bind(1, info.id).run();
  if (has_edges(info.schema))
    connection_.prepare(in_schema(info.schema, "DELETE FROM $.eindb_edges WHERE tensor_id = ?")).bind(1, info.id).run();
  if (has_statistics(info.schema)) StatisticsCatalog(connection_).forget(info);
  if (has_names(info.schema)) NameCatalog(connection_).forget(info);
  info.store().drop(connection_);
}

void Catalog::rename(std::string_view name, const std::string& new_name) {
  const auto info = get(name);
  require_tables(info.schema);
  check_free(info.schema, new_name, info.id);
  move(info, new_name);
  if (info.is_temporary()) return;
  CommentCatalog(connection_).rename(info.own_name(), new_name);
  GrantCatalog(connection_).rename(info.own_name(), new_name);
}

void Catalog::rename_label(const TensorInfo& info, std::size_t dimension, const std::string& label) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  check_label_name(label);
  auto labels = info.labels;
  if (labels[dimension] == label) return;
  if (std::find(labels.begin(), labels.end(), label) != labels.end())
    throw Error(ErrorKind::DuplicateName, "tensor " + info.name + " has a dimension " + label + " already");
  labels[dimension] = label;
  hide_in_sql(info);
  connection_
      .prepare(in_schema(info.schema, "UPDATE $.eindb_dimensions SET label = ? WHERE tensor_id = ? AND position = ?"))
      .bind(1, label)
      .bind(2, info.id)
      .bind(3, dimension)
      .run();
  info.store().rename_columns(connection_, labels);
  auto renamed = info;
  renamed.labels = std::move(labels);
  show_in_sql(renamed);
  announce_change(info.schema);
}

void Catalog::move(const TensorInfo& info, const std::string& new_name) {
  if (info.own_name() == new_name) return;
  hide_in_sql(info);
  connection_.prepare(in_schema(info.schema, "UPDATE $.eindb_tensors SET name = ? WHERE tensor_id = ?"))
      .bind(1, new_name)
      .bind(2, info.id)
      .run();
  info.store().rename(connection_, new_name);
  auto moved = info;
  moved.name = new_name;
  moved.is_qualified = false;
  show_in_sql(moved);
}

TensorInfo Catalog::stage(StoredType type, const std::vector<std::string>& labels, const TileGrid& grid, int replicas,
                          std::string_view schema, const DimensionNames& names) {
  require_tables(schema);
  const auto next =
      connection_.query_integer(in_schema(schema, "SELECT COALESCE(MAX(tensor_id), 0) + 1 FROM $.eindb_tensors"));
  return insert(kStagedPrefix + std::to_string(next), type, labels, grid, replicas, schema, names);
}

TensorInfo Catalog::publish(const TensorInfo& staged, const std::string& name) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  CHECK(staged.name.starts_with(kStagedPrefix), "what takes the place of a tensor was staged");
  if (const auto old = find_in(staged.schema, name)) remove(*old);
  check_free(staged.schema, name, std::nullopt);
  move(staged, name);
  auto info = staged;
  info.name = name;
  return info;
}

}  // namespace eindb
