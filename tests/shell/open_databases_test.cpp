// The program opens every kind of file beside a live connection in one process: SQLite keeps its locks, and files of
// the database opened by mistake, under any spelling, are refused and unchanged.

#include "common/open_databases.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "cluster/cluster_secret.hpp"
#include "common/file_stream.hpp"
#include "engine/files/transfer_directory.hpp"
#include "engine/session.hpp"
#include "engine/settings/client_policy.hpp"
#include "engine/settings/machine_file.hpp"
#include "security/tls_context.hpp"
#include "shell/line_editor.hpp"
#include "shell/line_source.hpp"
#include "shell/output.hpp"
#include "storage/files/input_file.hpp"
#include "storage/files/output_file.hpp"
#include "storage/files/scratch_file.hpp"
#include "storage/formats/hdf5_reader.hpp"
#include "tests/storage/local_shards.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

/// Runs the statement to its end; returns the number of rows.
int run(Session& session, const std::string& statement) {
  const auto result = session.execute(statement);
  int count = 0;
  Row row;
  while (result.rows != nullptr && result.rows->next(row)) ++count;
  return count;
}

/// The POSIX locks of this process, file and range of each. The table may change while it is read, so some can be
/// missing.
std::set<std::string> locks() {
  std::set<std::string> out;
  std::ifstream file("/proc/locks");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, process, inode, begin, end;
    words >> number >> kind >> mode >> access >> process >> inode >> begin >> end;
    if (kind == "POSIX" && process == std::to_string(::getpid()))
      out.insert(access + " " + inode + " " + begin + ".." + end);
  }
  return out;
}

/// Whether the locks of this process are the expected ones; repeated, as a single read may miss some.
bool locks_are(const std::set<std::string>& expected) {
  for (int look = 0; look < 100; ++look)
    if (locks() == expected) return true;
  return false;
}

/// All locks seen in several reads.
std::set<std::string> all_locks() {
  std::set<std::string> out;
  for (int look = 0; look < 5; ++look) out.merge(locks());
  return out;
}

struct Opening {
  std::string name;
  std::function<void(const std::string& path)> open;
};

const std::vector<std::string> kFormats{"csv", "tsv", "coo",  "tns",   "mtx",
                                        "npy", "npz", "hdf5", "jsonl", "safetensors"};

class OpenDatabases : public ::testing::Test {
 protected:
  OpenDatabases() {
    session.execute("CREATE TABLE t (a INTEGER)");
    session.execute("INSERT INTO t VALUES (7)");
    session.execute("CREATE TENSOR X AS EINSUM X[i 4, j 4] = i + j");
    before = all_locks();
  }

  /// Everything that opens a file by its path. Each may refuse.
  std::vector<Opening> openings() {
    std::vector<Opening> out;
    const auto sql = [&](const std::string& name, const std::function<std::string(const std::string&)>& statement) {
      out.push_back({name, [this, statement](const std::string& path) { run(other, statement(path)); }});
    };
    for (const auto& format : kFormats) {
      sql("COPY FROM " + format,
          [=](const std::string& path) { return "COPY Y FROM '" + path + "' (FORMAT " + format + ")"; });
      sql("COPY TO " + format,
          [=](const std::string& path) { return "COPY X TO '" + path + "' (FORMAT " + format + ")"; });
    }
    sql("COPY of rows",
        [](const std::string& path) { return "COPY (SELECT a FROM t) TO '" + path + "' (FORMAT csv)"; });
    sql("COPY into a table", [](const std::string& path) { return "COPY t FROM '" + path + "' (FORMAT csv)"; });
    sql("VACUUM INTO", [](const std::string& path) { return "VACUUM INTO '" + path + "'"; });
    sql("machine_file", [](const std::string& path) { return "SET machine_file = '" + path + "'"; });
    out.push_back({"a session", [](const std::string& path) {
                     Session opened(path);
                     run(opened, "SELECT 1");
                   }});
    out.push_back({"a session that reads", [](const std::string& path) {
                     Session opened(path, {.read_only = true});
                     run(opened, "SELECT 1");
                   }});
    out.push_back({"an immutable connection",
                   [](const std::string& path) { SqliteConnection(path, SqliteConnection::Access::Immutable); }});
    out.push_back({"InputFile", [](const std::string& path) { InputFile{path}; }});
    out.push_back({"OutputFile", [](const std::string& path) { OutputFile(path).commit(); }});
    out.push_back({"OutputFile with a name",
                   [](const std::string& path) { OutputFile(path, OutputFile::Naming::Early).commit(); }});
    out.push_back({"FileStream", [](const std::string& path) { FileStream(path).get(); }});
    out.push_back({".read", [](const std::string& path) {
                     std::string line;
                     FileLines(path).next(line, false);
                   }});
    out.push_back({".output", [](const std::string& path) {
                     Output output;
                     output.redirect(path);
                     output.write("overwritten");
                   }});
    out.push_back({"the figures of a machine", [](const std::string& path) { read_machine_file(path); }});
    out.push_back({"eindb calibrate", [](const std::string& path) { write_machine_file(path, MachineFigures{}); }});
    out.push_back({"a secret", [](const std::string& path) { ClusterSecret::from_file(path); }});
    out.push_back({"a certificate", [](const std::string& path) { TlsContext({path, path, path}); }});
    out.push_back({"a directory of files", [](const std::string& path) { FilesDirectory{path}; }});
    out.push_back({"a directory of scratch files", [](const std::string& path) { ScratchFile{path}; }});
    out.push_back({"a worker's data", [](const std::string& path) { ShardFile{path}; }});
    return out;
  }

  /// Various spellings of the path of one of the database's files.
  std::vector<std::string> spellings(const std::string& file) const {
    const auto base = fs::path(file).filename().string();
    std::vector<std::string> out{file, fs::relative(file).string(), scratch.file("./x/../" + base)};
    fs::create_directory(scratch.file("x"));
    fs::create_symlink(file, out.emplace_back(scratch.file("symbolic-" + base)));
    fs::create_hard_link(file, out.emplace_back(scratch.file("hard-" + base)));
    fs::create_directory_symlink(scratch.file(""), scratch.file("directory-" + base));
    out.push_back(scratch.file("directory-" + base + "/" + base));
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      if (fs::equivalent(entry.path(), file, error) && !error) out.push_back(entry.path().string());
    }
    return out;
  }

  void expect_all_is_well(const std::string& after) {
    EXPECT_TRUE(locks_are(before)) << after;
    EXPECT_EQ(run(session, "SELECT * FROM t"), rows) << after;
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("my.db");
  Session session{path};
  Session other{path};
  std::set<std::string> before;
  int rows = 1;
};

TEST_F(OpenDatabases, ALookThatGoesPastTheRuleLosesThem) {
  EXPECT_GE(before.size(), 2U);
  { std::ifstream file(path); }
  EXPECT_FALSE(locks_are(before));
}

TEST_F(OpenDatabases, AnotherConnectionLeavesTheLocks) {
  { Session another(path); }
  expect_all_is_well("a session has ended");
  { Session another(path, {.read_only = true}); }
  expect_all_is_well("a session that reads has ended");
}

TEST_F(OpenDatabases, NoFileOfTheDatabaseIsOpenedByAnythingElse) {
  for (const std::string suffix : {"", "-wal", "-shm"}) {
    for (const auto& spelled : spellings(path + suffix)) {
      for (const auto& opening : openings()) {
        const auto inode = fs::hard_link_count(path);
        std::string outcome = "done";
        try {
          opening.open(spelled);
        } catch (const Error& error) {
          outcome = error.message();
        }
        expect_all_is_well(opening.name + " of " + spelled + ": " + outcome);
        EXPECT_EQ(fs::hard_link_count(path), inode) << opening.name << " of " << spelled << ": " << outcome;
      }
    }
  }
  EXPECT_EQ(run(other, "PRAGMA integrity_check"), 1);
}

TEST_F(OpenDatabases, NothingIsMadeWhereSqliteWouldTakeItForItsLog) {
  const auto journal = path + "-journal";
  for (const auto& opening : openings()) {
    // A setting may name a missing file; nothing else may.
    if (opening.name == "machine_file") continue;
    EXPECT_THROW(opening.open(journal), Error) << opening.name;
    EXPECT_FALSE(fs::exists(journal)) << opening.name;
    fs::remove_all(journal);
  }
}

TEST_F(OpenDatabases, TheErrorNamesTheDatabase) {
  EXPECT_ERROR(other.execute("COPY Y FROM '" + path + "' (FORMAT csv)"), ErrorKind::Permission,
               "it belongs to the database " + path + ", which is open here");
  EXPECT_ERROR(other.execute("COPY X TO '" + path + "-wal' (FORMAT npy)"), ErrorKind::Permission, "cannot write");
}

TEST_F(OpenDatabases, PathsOfAServersDirectoryAreNoWayIn) {
  const auto directory = std::make_shared<const FilesDirectory>(scratch.file(""));
  EXPECT_ERROR(InputFile(FilePath("my.db", directory)), ErrorKind::Permission, "belongs to the database");
  EXPECT_ERROR(OutputFile(FilePath("my.db-shm", directory)), ErrorKind::Permission, "belongs to the database");
  EXPECT_ERROR(OutputFile(FilePath("my.db-journal", directory)), ErrorKind::Permission, "belongs to the database");
  expect_all_is_well("files of a server's directory");
}

TEST_F(OpenDatabases, WhatElseTheProgramOpensLeavesTheLocks) {
  {
    TransferDirectory transfers(path);
    auto file = transfers.make();
    file->append("bytes");
  }
  expect_all_is_well("a transfer");
  { ScratchFile(scratch.file("")).append(std::as_bytes(std::span("bytes"))); }
  expect_all_is_well("a scratch file");
  ::setenv("HOME", scratch.file("").c_str(), 1);
  fs::create_hard_link(path, scratch.file(".eindb_history"));
  fs::create_symlink(path, scratch.file(".editrc"));
  {
    const auto nothing = [] { return std::vector<std::string>(); };
    LineEditor editor(Completion(nothing, nothing));
  }
  expect_all_is_well("a line editor");
  LocalShards shards(scratch.file(""), 2);
  before = all_locks();
  DatabaseFile sharded(scratch.file("sharded.db"));
  before = all_locks();
  sharded.use_shards({std::shared_ptr<void>(), &shards});
  {
    DatabaseFile own(scratch.file("sharded.db"));
    own.use_shards({std::shared_ptr<void>(), &shards});
  }
  expect_all_is_well("what settles shards");
}

TEST_F(OpenDatabases, AFileThatBecomesADatabaseWhileItIsOpenKeepsItsLocks) {
  const auto later = scratch.file("later.db");
  { Session{later}.execute("CREATE TABLE t (a INTEGER)"); }
  auto file = std::make_unique<InputFile>(later);
  Session session_of_it(later);
  run(session_of_it, "SELECT * FROM t");
  const auto held = all_locks();
  file.reset();
  EXPECT_TRUE(locks_are(held));
  EXPECT_ERROR(InputFile{later}, ErrorKind::Permission, later);
}

TEST_F(OpenDatabases, DescriptorsThatWereKeptAreClosedWithTheDatabase) {
  const auto descriptors = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  const auto later = scratch.file("later.db");
  { Session{later}.execute("CREATE TABLE t (a INTEGER)"); }
  const auto count = descriptors();
  for (int n = 0; n < 10; ++n) {
    auto file = std::make_unique<InputFile>(later);
    Session session_of_it(later);
    file.reset();
  }
  EXPECT_EQ(descriptors(), count);
  EXPECT_EQ(read_file(later).substr(0, 6), "SQLite");
}

TEST_F(OpenDatabases, OneDatabaseByTwoNamesIsRefused) {
  const auto hard = scratch.file("hard.db");
  fs::create_hard_link(path, hard);
  EXPECT_ERROR(Session{hard}, ErrorKind::Permission, "by another name");
  fs::create_symlink(path, scratch.file("symbolic.db"));
  { Session{scratch.file("symbolic.db")}.execute("INSERT INTO t VALUES (8)"); }
  rows = 2;
  expect_all_is_well("a session by another name");
}

}  // namespace
}  // namespace eindb
