#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/session.hpp"
#include "tests/runner/local_cluster.hpp"
#include "tests/storage/local_shards.hpp"

namespace eindb::faults {

/// Whether all faults are tried rather than a sample: EINDB_FAULTS=all.
bool takes_all();

/// The location of the tiles of a trial's tensors.
enum class Place : std::uint8_t {
  File,     ///< in the database's own file
  Shards,   ///< at two workers that are called directly
  Cluster,  ///< at two workers over TCP, which also run the queries
};

std::string to_string(Place place);

/// A database, "my.db", with its workers in one directory, and a session on it.
class TrialDatabase {
 public:
  /// Opens the existing database, or creates it.
  TrialDatabase(std::string directory, Place place);

  Session& session() { return *session_; }
  /// Runs statements separated by ";;", which may name the directory as ${DIR}, and reads all their rows.
  void run(const std::string& statements);
  /// The complete visible state: tensors and tables with their values, and exported files.
  std::string state();
  /// Closes the session and the workers.
  void close();

 private:
  std::string rows(const std::string& query);

  std::string directory_;
  std::shared_ptr<LocalShards> shards_;
  std::unique_ptr<runner::LocalCluster> cluster_;
  std::unique_ptr<Session> session_;
};

/// The inconsistencies in the files of a closed database and its workers; empty if there are none. Checks pages,
/// eindb's own tables, unreferenced or missing contents, and superfluous files, without using eindb's catalog.
std::string inconsistencies(const std::string& directory, Place place);

/// A statement to try, and its possible outcomes.
struct TrialStatement {
  std::string name;
  std::string text;
  /// The steps from the state before to the state after, one per commit: the statement may end after any of them.
  /// Empty: the text itself.
  std::vector<std::string> steps = {};
};

/// The statements to try, in an order in which they can run consecutively.
const std::vector<TrialStatement>& trial_statements();

/// Statements on files of other formats, and statements that exceed the memory: files of eindb's own, without SQLite.
const std::vector<TrialStatement>& trial_statements_of_files();

/// Creates the database for these statements.
void make_trial_database(const std::string& directory, Place place);

}  // namespace eindb::faults
