#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster/mpi_transport.hpp"
#include "common/error.hpp"
#include "engine/session.hpp"
#include "storage/shards/shard_access.hpp"
#include "tests/runner/query_result.hpp"
#include "tests/runner/script_cluster.hpp"
#include "tests/runner/test_script.hpp"

namespace eindb::runner {

struct RunOptions {
  std::set<std::string> modes = {"eindb"};  ///< the names for onlyif and skipif
  std::vector<std::string> preludes;        ///< statements run after each opening of a database
  std::size_t shards = 0;                   ///< workers in this process that store sharded tensors
  std::size_t workers = 0;                  ///< workers in this process, over TCP, of a cluster that runs queries
  MpiTransport* mpi = nullptr;              ///< of rank 0, if the job's other ranks are the workers
  bool generate = false;                    ///< write the actual results into the file as the expected ones
  bool small_here = false;                  ///< whether small statements run in the session, not on the workers
};

/// A new folder below the system's temporary folder; the destructor removes it with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Runs one script in a fresh database and prints the failures on standard output. Continues after a failed case. Not
/// thread-safe.
class TestRun {
 public:
  TestRun(TestScript script, RunOptions options);

  void run();
  std::size_t case_count() const { return cases_; }
  std::size_t failure_count() const { return failures_; }

 private:
  bool applies(const Record& record) const;
  void run_record(const Record& record);
  void execute(const Record& record, const StatementCase& statement);
  void execute(const Record& record, const QueryCase& query);
  void execute(const Record& record, const OpenFile& directive);
  void execute(const Record& record, const Reopen& directive);
  void check_error(const Record& record, const StatementCase& statement, const Error& error);
  void check_result(const Record& record, const QueryCase& query, const QueryResult& actual);
  void check_expected(const Record& record, const QueryCase& query, const QueryResult& actual);
  void check_label(const Record& record, const QueryCase& query, const QueryResult& actual);
  void replace_expected(const QueryCase& query, const QueryResult& actual);
  void write_back();
  void open(const std::string& database);
  /// The workers of a database, equal at each opening.
  std::shared_ptr<ShardAccess> shards_of(const std::string& database);
  void start_cluster(const std::string& database);
  std::filesystem::path folder_of_workers(const std::string& database);
  std::string substituted(std::string sql) const;
  void fail(const Record& record, const std::string& sql, const std::string& what);

  struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<std::string> lines;
  };

  TestScript script_;
  RunOptions options_;
  TemporaryFolder folder_;
  std::string database_;
  int memory_databases_ = 0;  // number opened so far, each with workers of its own
  std::unique_ptr<ScriptCluster> cluster_;
  std::unique_ptr<Session> session_;
  std::map<std::string, QueryResult> labelled_;  // the first result of each label
  std::vector<Edit> edits_;                      // in order of lines
  std::size_t cases_ = 0;
  std::size_t failures_ = 0;
};

}  // namespace eindb::runner
