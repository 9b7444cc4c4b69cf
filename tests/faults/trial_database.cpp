#include "tests/faults/trial_database.hpp"

#include <stdlib.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "engine/results/cell_text.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb::faults {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWorkers = 2;
constexpr const char* kExported[] = {"out.npy", "out.npz", "out.csv", "out.safetensors", "out.mtx"};

std::string with_directory(std::string text, const std::string& directory) {
  constexpr std::string_view kName = "${DIR}";
  for (auto at = text.find(kName); at != std::string::npos; at = text.find(kName, at))
    text.replace(at, kName.size(), directory);
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(";;", begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return out;
}

std::string text_of(const Cell& cell) {
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, std::vector<std::byte>>) {
          return cell_text(cell);
        } else {
          std::ostringstream out;
          out << value;
          return out.str();
        }
      },
      cell);
}

std::string random_npy() {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (20, 30), }";
  header.resize(117, ' ');
  header += '\n';
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + header;
  for (int n = 0; n < 600; ++n) {
    const double value = n * 0.5;
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

// ---- The contents of files
// ---------------------------------------------------------------------------------------------

class Inspection {
 public:
  explicit Inspection(const std::string& path) : path_(path), connection_(path, SqliteConnection::Access::ReadOnly) {
    const auto check = connection_.query_text("PRAGMA integrity_check");
    if (check != "ok") complain(check);
  }

  std::set<std::string> texts(const std::string& query) {
    std::set<std::string> out;
    auto statement = connection_.prepare(query);
    while (statement.step()) out.insert(statement.text(0));
    return out;
  }
  std::int64_t count(const std::string& table) {
    return connection_.has_table(table, {}) && has(table) ? connection_.query_integer("SELECT COUNT(*) FROM " + table)
                                                          : 0;
  }
  bool has(const std::string& table) { return texts("SELECT name FROM sqlite_schema").contains(table); }
  void must_be_empty(const std::string& table) {
    if (const auto rows = count(table); rows != 0) complain(std::to_string(rows) + " rows in " + table);
  }
  void complain(const std::string& what) { complaints_ += path_ + ": " + what + "\n"; }
  const std::string& complaints() const { return complaints_; }
  SqliteConnection& connection() { return connection_; }

 private:
  std::string path_;
  SqliteConnection connection_;
  std::string complaints_;
};

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += " " + name;
  return out;
}

/// Every tensor must have its table of tiles, and every such table its tensor.
void compare_catalog(Inspection& file) {
  if (!file.has("eindb_tensors")) return;
  const auto wanted = file.texts("SELECT 'eindb_tiles_' || name FROM eindb_tensors");
  const auto found =
      file.texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'eindb\\_tiles\\_%' ESCAPE '\\'");
  if (wanted != found) file.complain("tensors" + joined(wanted) + ", tables" + joined(found));
  const auto orphans = file.connection().query_integer(
      "SELECT COUNT(*) FROM eindb_dimensions WHERE tensor_id NOT IN (SELECT tensor_id FROM eindb_tensors)");
  if (orphans != 0) file.complain("dimensions of no tensor");
}

/// The number of contents that the rows of all tensors refer to.
std::int64_t references(Inspection& file) {
  if (!file.has("eindb_shardings")) return 0;
  std::int64_t sum = 0;
  for (const auto& table :
       file.texts("SELECT 'eindb_tiles_' || name FROM eindb_tensors JOIN eindb_shardings USING (tensor_id)"))
    sum += file.count(table);
  return sum;
}

void compare_contents(Inspection& file, std::vector<std::unique_ptr<Inspection>>& workers) {
  for (const char* table : {"eindb_shard_transactions", "eindb_shard_participants", "eindb_shard_garbage"})
    file.must_be_empty(table);
  std::int64_t contents = 0;
  for (auto& worker : workers) {
    worker->must_be_empty("eindb_open_transactions");
    contents += worker->count("eindb_contents");
  }
  const auto wanted = references(file);
  if (contents != wanted)
    file.complain(std::to_string(wanted) + " references, " + std::to_string(contents) + " contents");
}

std::string unknown_files(const std::string& directory) {
  static const std::set<std::string> known = {"my.db", "in.npy", "in.csv", "out.h5", "shard.db", "lock", "reserve"};
  const auto is_known = [](const std::string& name) {
    return known.contains(name) || std::find(std::begin(kExported), std::end(kExported), name) != std::end(kExported);
  };
  std::string out;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file() && !is_known(entry.path().filename().string()))
      out += entry.path().string() + " is left\n";
  return out;
}

}  // namespace

bool takes_all() {
  const char* chosen = ::getenv("EINDB_FAULTS");
  return chosen != nullptr && std::string_view(chosen) == "all";
}

std::string to_string(Place place) {
  switch (place) {
    case Place::File: return "file";
    case Place::Shards: return "shards";
    case Place::Cluster: return "cluster";
  }
  return {};
}

TrialDatabase::TrialDatabase(std::string directory, Place place) : directory_(std::move(directory)) {
  SessionOptions options;
  if (place == Place::Shards) options.shards = shards_ = std::make_shared<LocalShards>(directory_, kWorkers);
  if (place == Place::Cluster) {
    cluster_ = std::make_unique<runner::LocalCluster>(directory_, kWorkers);
    options.cluster = {std::shared_ptr<void>(), &cluster_->cluster()};
    options.small_statements = SmallStatements::Workers;
  }
  if (shards_ != nullptr) {
    DatabaseFile file(directory_ + "/my.db");
    file.use_shards(shards_);
    shards_->resolve(file);
  }
  session_ = std::make_unique<Session>(directory_ + "/my.db", options);
  if (cluster_ != nullptr) cluster_->wait_for_workers();
}

void TrialDatabase::run(const std::string& statements) {
  for (const auto& statement : split(with_directory(statements, directory_))) rows(statement);
}

std::string TrialDatabase::rows(const std::string& query) {
  auto result = session_->execute(query);
  std::string out;
  if (result.rows == nullptr) return out;
  for (Row row; result.rows->next(row);) {
    for (const auto& cell : row) out += text_of(cell) + "|";
    out += "\n";
  }
  return out;
}

std::string TrialDatabase::state() {
  std::string out;
  for (const auto& name : session_->tensor_names()) {
    std::string labels = rows("DESCRIBE " + name);
    out += name + "\n" + labels + rows("SELECT * FROM " + quote_identifier(name));
  }
  for (const char* table : {"t", "u"})
    if (!rows(std::string("SELECT 1 FROM sqlite_schema WHERE name = '") + table + "'").empty())
      out += std::string(table) + "\n" + rows(std::string("SELECT * FROM ") + table);
  for (const char* name : kExported)
    if (const auto file = directory_ + "/" + name; fs::exists(file))
      out += std::string(name) + " " + std::to_string(std::hash<std::string>()(read_file(file))) + "\n";
  if (fs::exists(directory_ + "/out.h5")) out += "out.h5\n";  // its contents include the time of writing
  return out;
}

void TrialDatabase::close() {
  session_.reset();
  cluster_.reset();
  shards_.reset();
}

std::string inconsistencies(const std::string& directory, Place place) {
  std::string out = unknown_files(directory);
  Inspection file(directory + "/my.db");
  compare_catalog(file);
  if (place != Place::File) {
    std::vector<std::unique_ptr<Inspection>> workers;
    for (std::size_t n = 0; n < kWorkers; ++n)
      workers.push_back(std::make_unique<Inspection>(directory + "/worker-" + std::to_string(n) + "/shard.db"));
    compare_contents(file, workers);
    for (const auto& worker : workers) out += worker->complaints();
  }
  return out + file.complaints();
}

const std::vector<TrialStatement>& trial_statements() {
  static const std::vector<TrialStatement> statements = {
      {"create", "CREATE TENSOR B PARTITION (2, 2) AS EINSUM B[i,k] = SUM(A[i,j] * A[j,k])"},
      {"copy_from", "COPY C FROM '${DIR}/in.npy'"},
      {"copy_to", "COPY A TO '${DIR}/out.npy'"},
      {"update", "UPDATE TENSOR A[i,j] = A[i,j] * 2 + 1"},
      {"repeat",
       "REPEAT 4 COMMIT EVERY 2 { UPDATE TENSOR W[i] = W[i] * 2; INSERT INTO t VALUES (7, 'round') }",
       {"BEGIN;;UPDATE TENSOR W[i] = W[i] * 4;;INSERT INTO t VALUES (7, 'round'), (7, 'round');;COMMIT",
        "BEGIN;;UPDATE TENSOR W[i] = W[i] * 4;;INSERT INTO t VALUES (7, 'round'), (7, 'round');;COMMIT"}},
      {"insert", "INSERT INTO TENSOR A VALUES (0, 0, -5), (19, 19, -6)"},
      {"transaction",
       "BEGIN;;CREATE TABLE u (a, b);;INSERT INTO u SELECT a, zeroblob(3000) FROM t;;UPDATE TENSOR W[i] = 0 - "
       "W[i];;DELETE FROM t WHERE a < 3;;COMMIT"},
      {"drop", "DROP TENSOR D"},
      {"alter", "ALTER TENSOR A PARTITION (1, 4)"},
  };
  return statements;
}

const std::vector<TrialStatement>& trial_statements_of_files() {
  static const std::vector<TrialStatement> statements = {
      {"to_npz", "COPY A TO '${DIR}/out.npz'"},
      {"to_csv", "COPY A TO '${DIR}/out.csv'"},
      {"to_safetensors", "COPY A TO '${DIR}/out.safetensors'"},
      {"to_mtx", "COPY A TO '${DIR}/out.mtx'"},
      {"to_h5", "COPY A TO '${DIR}/out.h5'"},
      {"from_csv", "COPY E FROM '${DIR}/in.csv'"},
      {"spill",
       "SET memory_limit = '2MiB';;SET tile_bytes = 65536;;CREATE TENSOR S AS WITH L[i 400, k 400] = i + k, "
       "P[i,j] = SUM(L[i,k] * L[k,j]) EINSUM S[i] = MAX[j](P[i,j] + P[j,i])"},
  };
  return statements;
}

void make_trial_database(const std::string& directory, Place place) {
  write_file(directory + "/in.npy", random_npy());
  write_file(directory + "/in.csv", "1,2\n3,4\n5,6\n");
  TrialDatabase database(directory, place);
  database.run(
      "CREATE TENSOR A PARTITION (2, 2) AS EINSUM A[i 20, j 20] = i * j + 1;;"
      "CREATE TENSOR D PARTITION (3) AS EINSUM D[i 3000] = i + 1;;"
      "CREATE TENSOR W AS EINSUM W[i 4] = i + 1;;"
      "CREATE TABLE t (a, b);;INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')");
  database.close();
}

}  // namespace eindb::faults
