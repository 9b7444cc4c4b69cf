#include "tests/simulation/files_check.hpp"

#include <cstdint>
#include <map>
#include <set>

#include "storage/shards/tile_reference.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb::simulation {
namespace {

using Contents = std::set<std::int64_t>;

SqliteConnection open(const std::string& path) { return {path, SqliteConnection::Access::ReadOnly}; }

std::string check_empty(SqliteConnection& file, const std::string& table) {
  if (!file.has_table(table, {})) return {};
  const auto rows = file.query_integer("SELECT COUNT(*) FROM " + table);
  return rows == 0 ? "" : std::to_string(rows) + " rows in " + table + "\n";
}

// By data directory.
std::map<std::int64_t, Contents> references(SqliteConnection& file) {
  std::map<std::int64_t, std::int64_t> directories;
  auto workers = file.prepare("SELECT worker_id, data_id FROM eindb_workers");
  while (workers.step()) directories[workers.integer(0)] = workers.integer(1);
  std::set<std::string> tables;
  auto names = file.prepare("SELECT 'eindb_tiles_' || name FROM eindb_tensors JOIN eindb_shardings USING (tensor_id)");
  while (names.step()) tables.insert(names.text(0));
  std::map<std::int64_t, Contents> out;
  for (const auto& table : tables) {
    auto rows = file.prepare("SELECT tile FROM " + table);
    while (rows.step()) {
      const auto reference = decode_reference(rows.blob(0), table);
      for (const auto worker : reference.workers)
        out[directories.at(static_cast<std::int64_t>(worker))].insert(number(reference.content));
    }
  }
  return out;
}

std::string compare(const Contents& wanted, const Contents& found, const std::string& worker) {
  std::string out;
  for (const auto content : wanted)
    if (!found.contains(content)) out += worker + " lacks content " + std::to_string(content) + "\n";
  for (const auto content : found)
    if (!wanted.contains(content)) out += worker + " has content " + std::to_string(content) + " for nobody\n";
  return out;
}

}  // namespace

std::string inconsistencies(const std::string& database, const std::vector<std::string>& workers) {
  auto file = open(database);
  std::string out;
  for (const char* table : {"eindb_shard_transactions", "eindb_shard_participants", "eindb_shard_garbage"})
    out += check_empty(file, table);
  auto wanted = references(file);
  for (const auto& worker : workers) {
    auto shards = open(worker);
    out += check_empty(shards, "eindb_open_transactions");
    Contents found;
    auto contents = shards.prepare("SELECT content_id FROM eindb_contents");
    while (contents.step()) found.insert(contents.integer(0));
    const auto directory = shards.query_integer("SELECT value FROM eindb_shard WHERE name = 'identity'");
    out += compare(wanted[directory], found, worker);
  }
  return out;
}

}  // namespace eindb::simulation
