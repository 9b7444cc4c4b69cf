#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/encoding/tile_codec.hpp"

struct sqlite3_blob;

namespace eindb {

class SqliteConnection;

/// One BLOB of a row, read and written in place without copying it as a whole. Holds a transaction open while it
/// exists, so destroy it before COMMIT. Threads: like its connection.
class SqliteBlob final : public ByteSource {
 public:
  enum class Access : std::uint8_t { Read, Write };

  /// nullopt if the row does not exist or its value is not a BLOB.
  static std::optional<SqliteBlob> open(SqliteConnection& connection, const std::string& schema,
                                        const std::string& table, const std::string& column, std::int64_t rowid,
                                        Access access);
  SqliteBlob(SqliteBlob&& other) noexcept;
  SqliteBlob& operator=(SqliteBlob&&) = delete;
  ~SqliteBlob() override;

  std::size_t size() const override;
  void read(std::size_t offset, std::span<std::byte> target) const override;
  /// Overwrites bytes; the size does not change.
  void write(std::size_t offset, std::span<const std::byte> bytes);

 private:
  SqliteBlob(SqliteConnection& connection, sqlite3_blob* blob) : connection_(&connection), blob_(blob) {}

  SqliteConnection* connection_;
  sqlite3_blob* blob_;
};

}  // namespace eindb
