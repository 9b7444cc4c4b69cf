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
  std::set<std::string> modes = {"eindb"};  ///< names that onlyif and skipif know
  std::vector<std::string> preludes;        ///< statements that run after each opening of a database
  std::size_t shards = 0;                   ///< workers in this process, at which tensors lie sharded
  std::size_t workers = 0;                  ///< of a cluster that runs queries; in this process, over TCP
  MpiTransport* mpi = nullptr;              ///< of the job whose other ranks are the workers instead, in rank 0
  bool generate = false;                    ///< write what came out into the file as what is expected
};

/// A folder of its own under the system's temporary folder, removed with all it holds at the end.
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

/// Runs one script from the top in a fresh database and says on standard output what failed.
/// Goes on after a failed case: each is reported. Not thread-safe.
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
  /// The workers of a database: the same each time that it is opened.
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
  int memory_databases_ = 0;  // opened so far, each with workers of its own
  std::unique_ptr<ScriptCluster> cluster_;
  std::unique_ptr<Session> session_;
  std::map<std::string, QueryResult> labelled_;  // the first result of each label
  std::vector<Edit> edits_;                      // in order of lines
  std::size_t cases_ = 0;
  std::size_t failures_ = 0;
};

}  // namespace eindb::runner
