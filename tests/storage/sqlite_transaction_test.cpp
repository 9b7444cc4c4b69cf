#include "storage/sqlite/sqlite_transaction.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {
namespace {

/// While it exists, SQLite gets no memory in the whole process; another thread ends this after a while.
class MemoryShortage {
 public:
  MemoryShortage() : before_(sqlite3_hard_heap_limit64(-1)) { sqlite3_hard_heap_limit64(1); }
  ~MemoryShortage() {
    end_.join();
    sqlite3_hard_heap_limit64(before_);
  }
  MemoryShortage(const MemoryShortage&) = delete;
  MemoryShortage& operator=(const MemoryShortage&) = delete;

 private:
  sqlite3_int64 before_;
  std::thread end_{[] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    sqlite3_hard_heap_limit64(std::int64_t{1} << 40);
  }};
};

class Transaction : public ::testing::TestWithParam<bool> {};

TEST_P(Transaction, IsUndoneAsSoonAsThereIsMemoryForThat) {
  const bool nested = GetParam();
  SqliteConnection connection(":memory:", SqliteConnection::Access::Create);
  if (nested) connection.execute("BEGIN");
  {
    std::optional<MemoryShortage> shortage;  // must outlive the transaction
    const SqliteTransaction transaction(connection);
    connection.execute("CREATE TABLE t (a)");
    connection.execute("CREATE TEMP TABLE u (a)");  // makes SQLite recompile all statements
    shortage.emplace();
  }
  // SQLite may have rolled back the outer transactions too.
  EXPECT_TRUE(nested || !connection.in_transaction());
  EXPECT_EQ(connection.query_integer("SELECT COUNT(*) FROM sqlite_schema"), 0);
}

INSTANTIATE_TEST_SUITE_P(Depths, Transaction, testing::Bool());

}  // namespace
}  // namespace eindb
