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

/// Whether all faults are tried, not a sample of them: EINDB_FAULTS=all.
bool takes_all();

/// Where the tiles of a trial's tensors lie.
enum class Place : std::uint8_t {
  File,     ///< in the database's own file
  Shards,   ///< at two workers that are called directly
  Cluster,  ///< at two workers that are reached by TCP, and which run the queries
};

std::string to_string(Place place);

/// A database, "my.db", with its workers in one directory, and a session on it.
class TrialDatabase {
 public:
  /// Opens what is there, or creates it.
  TrialDatabase(std::string directory, Place place);

  Session& session() { return *session_; }
  /// Statements are separated by ";;" and may name the directory: ${DIR}. Reads the rows of each to the end.
  void run(const std::string& statements);
  /// All that a user can see: tensors and tables with their values, and files that were written.
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

/// What is wrong with the files of a closed database and its workers, an empty text if nothing is: pages, eindb's own
/// tables, contents that nobody refers to or that are missing, files that nobody needs. Reads them without eindb's
/// catalog.
std::string inconsistencies(const std::string& directory, Place place);

/// A statement that is tried, and what may come of it.
struct TrialStatement {
  std::string name;
  std::string text;
  /// What leads from the state before to the state after it, as far as it commits on the way: each of these is a state
  /// that it may end in. Empty: the text.
  std::vector<std::string> steps = {};
};

/// The tried statements, in an order in which they can run one after the other.
const std::vector<TrialStatement>& trial_statements();

/// Of other formats of files, and of memory that does not suffice: files of eindb's own, without SQLite.
const std::vector<TrialStatement>& trial_statements_of_files();

/// Makes the database that they run on.
void make_trial_database(const std::string& directory, Place place);

}  // namespace eindb::faults
