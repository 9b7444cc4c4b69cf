#include "sqlite/database.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace eindb_sqlite {

bool is_in_linked_sqlite(const void* function);  // linked_sqlite.cpp

FileState::FileState(std::shared_ptr<eindb::Connection> connection) : connection_(std::move(connection)) {
  connection_->execute("BEGIN READ ONLY");
}

FileState::~FileState() {
  try {
    connection_->execute("COMMIT");
  } catch (...) {
    // Nothing was written, and the transaction ends with the connection at the latest.
  }
}

bool is_linked_sqlite() { return is_in_linked_sqlite(reinterpret_cast<const void*>(sqlite3_api->libversion_number)); }

namespace {

constexpr std::chrono::milliseconds kInterruptPoll{20};
/// The release that has sqlite3_txn_state().
constexpr int kHasTransactionState = 3034000;

/// The next word in upper case, after blanks and comments; `text` goes on behind it.
std::string take_word(std::string_view& text) {
  const auto skip_to = [&](std::string_view end) {
    const auto found = text.find(end);
    text.remove_prefix(found == std::string_view::npos ? text.size() : found + end.size());
  };
  while (!text.empty()) {
    if (text.starts_with("--")) skip_to("\n");
    else if (text.starts_with("/*")) skip_to("*/");
    else if (std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
    else break;
  }
  std::string word;
  while (!text.empty() && (std::isalnum(static_cast<unsigned char>(text.front())) != 0 || text.front() == '_')) {
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    text.remove_prefix(1);
  }
  return word;
}

/// Work on a thread of its own.
class HostBackground {
 public:
  explicit HostBackground(const std::function<void()>& work) : thread_([this, &work] { run(work); }) {}
  ~HostBackground() { thread_.join(); }
  HostBackground(const HostBackground&) = delete;
  HostBackground& operator=(const HostBackground&) = delete;

  bool is_done_after(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return done_; });
  }
  std::exception_ptr error() const { return error_; }

 private:
  void run(const std::function<void()>& work) noexcept {
    try {
      work();
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;  // guards done_
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr error_;  // set before done_
  std::thread thread_;        // the last: it uses the others
};

}  // namespace

bool begins_query(std::string_view text) {
  constexpr std::array<std::string_view, 7> kWords{"EINSUM", "SELECT", "VALUES", "WITH", "EXPLAIN", "SHOW", "DESCRIBE"};
  const auto word = take_word(text);
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool begins_reading(std::string_view text) { return begins_query(text) && take_word(text) != "WITH"; }

bool begins_pure_query(std::string_view text) {
  if (!begins_query(text)) return false;
  const auto word = take_word(text);
  return word == "EXPLAIN" ? take_word(text) != "ANALYZE" : word != "SHOW" && word != "DESCRIBE";
}

void Database::require_linked_sqlite() const {
  if (is_linked_sqlite()) return;
  throw HostError("eindb cannot open " + file_of(host_) + " in this program: it has a SQLite of its own (" +
                  sqlite3_libversion() +
                  ") beside the system's, and two SQLites in one process break each other's locks on a file\n"
                  "  hint: use a program that has the system's libsqlite3, such as sqlite3 and python3 of Debian, or "
                  "eindb itself; einsum() over tables works here, and eindb in a database in memory");
}

void Database::refuse_own_locks() const {
  if (file_of(host_).empty() || sqlite3_libversion_number() < kHasTransactionState) return;
  const int state = sqlite3_txn_state(host_, "main");
  if (state == SQLITE_TXN_WRITE) {
    throw HostError(
        "busy: this connection's own transaction has locked the database for writing\n"
        "  hint: COMMIT it first; eindb_exec() writes in a transaction of its own",
        SQLITE_BUSY);
  }
  if (state != SQLITE_TXN_READ) return;
  refuse_without_write_ahead_log();
}

void Database::refuse_without_write_ahead_log() const {
  HostStatement mode(host_, "PRAGMA main.journal_mode");
  if (mode.step() && mode.text(0) == "wal") return;
  throw HostError(
      "busy: this connection reads the database, which without a write-ahead log nobody can write then\n"
      "  hint: end its transaction and its SELECTs first",
      SQLITE_BUSY);
}

bool Database::may_have_tensors() const {
  if (file_of(host_).empty()) return file_ != nullptr;
  HostStatement found(host_, "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'eindb_tensors'");
  return found.step();
}

std::vector<std::string> Database::tensor_names() {
  if (!may_have_tensors()) return {};
  if (file_of(host_).empty() || is_linked_sqlite()) return reading().tensor_names();
  // So that whoever reads one is told why that cannot be.
  std::vector<std::string> names;
  HostStatement select(host_, "SELECT name FROM main.eindb_tensors");
  while (select.step()) names.push_back(select.text(0));
  return names;
}

eindb::Connection& Database::reading() {
  if (file_) return *file_;
  const auto file = file_of(host_);
  if (file.empty()) return *(file_ = std::make_shared<eindb::Connection>(":memory:"));
  require_linked_sqlite();
  // A file without tensors stays as it is, until something is written to it.
  reads_only_ = sqlite3_db_readonly(host_, "main") == 1 || !may_have_tensors();
  return *(file_ = std::make_shared<eindb::Connection>(file, eindb::ConnectionOptions{.read_only = reads_only_}));
}

eindb::Connection& Database::writing() {
  const auto file = file_of(host_);
  if (file.empty()) return reading();
  require_linked_sqlite();
  const bool host_reads_only = sqlite3_db_readonly(host_, "main") == 1;
  if (!host_reads_only) refuse_own_locks();
  const bool is_held = !host_reads_only && !state_.expired();
  if (is_held) refuse_without_write_ahead_log();
  if (file_ && !is_held && (!reads_only_ || host_reads_only)) return *file_;
  // The old one stays, should the new one fail, and for those that hold a state of it.
  file_ = std::make_shared<eindb::Connection>(file, eindb::ConnectionOptions{.read_only = host_reads_only});
  reads_only_ = host_reads_only;
  state_.reset();
  return *file_;
}

FileStatePtr Database::hold_state() {
  if (auto held = state_.lock()) return held;
  if (file_of(host_).empty() || !is_linked_sqlite() || !may_have_tensors()) return nullptr;
  if (reading().in_transaction()) return nullptr;
  auto held = std::make_shared<const FileState>(file_);
  state_ = held;
  return held;
}

eindb::Connection& Database::for_statement(std::string_view text) { return begins_query(text) ? reading() : writing(); }

eindb::Connection& Database::in_memory() {
  if (file_of(host_).empty()) return reading();
  if (!memory_) memory_.emplace(":memory:");
  return *memory_;
}

void Database::run_interruptibly(eindb::Connection& connection, const std::function<void()>& work) {
  bool interrupted = false;
  HostBackground background(work);
  while (!background.is_done_after(kInterruptPoll)) {
    interrupted = interrupted || is_interrupted(host_);
    if (interrupted) connection.cancel();  // again and again: a statement that has just begun forgets it
  }
  if (background.error()) std::rethrow_exception(background.error());
}

}  // namespace eindb_sqlite
