#include "storage/tiles/sqlite_blob.hpp"

#include <sqlite3.h>

#include <utility>

#include "common/check.hpp"
#include "storage/sqlite/mapped_reads.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

std::optional<SqliteBlob> SqliteBlob::open(SqliteConnection& connection, const std::string& schema,
                                           const std::string& table, const std::string& column, std::int64_t rowid,
                                           Access access) {
  sqlite3_blob* blob = nullptr;
  const int code = sqlite3_blob_open(connection.handle(), schema.c_str(), table.c_str(), column.c_str(), rowid,
                                     access == Access::Write ? 1 : 0, &blob);
  if (code == SQLITE_OK) {
    if (access == Access::Write) connection.note_blob_write();
    SqliteBlob opened(connection, blob);
    connection.require_readable();
    return opened;
  }
  sqlite3_blob_close(blob);
  if ((code & 0xFF) == SQLITE_ERROR) return std::nullopt;
  connection.fail(code);
}

SqliteBlob::SqliteBlob(SqliteBlob&& other) noexcept
    : connection_(other.connection_), blob_(std::exchange(other.blob_, nullptr)) {}

SqliteBlob::~SqliteBlob() { sqlite3_blob_close(blob_); }

std::size_t SqliteBlob::size() const { return static_cast<std::size_t>(sqlite3_blob_bytes(blob_)); }

void SqliteBlob::read(std::size_t offset, std::span<std::byte> target) const {
  CHECK(offset <= size() && target.size() <= size() - offset, "a read stays within its blob");
  const int code = sqlite3_blob_read(blob_, target.data(), static_cast<int>(target.size()), static_cast<int>(offset));
  if (code != SQLITE_OK) connection_->fail(code);
  connection_->require_readable();
}

void SqliteBlob::write(std::size_t offset, std::span<const std::byte> bytes) {
  CHECK(offset <= size() && bytes.size() <= size() - offset, "a write stays within its blob");
  const int code = sqlite3_blob_write(blob_, bytes.data(), static_cast<int>(bytes.size()), static_cast<int>(offset));
  if (code != SQLITE_OK) connection_->fail(code);
  connection_->require_readable();
}

}  // namespace eindb
