#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/sqlite/sqlite_handle.hpp"

namespace eindb {

/// A place in a write-ahead log of SQLite ("Database File Format", section 4): behind some of its frames, each of which
/// holds a page as a transaction left it.
struct LogPlace {
  std::uint64_t generation = 0;  ///< the log's salts, which change whenever it begins anew; 0: no log
  std::uint32_t frames = 0;
  std::uint64_t checksum = 0;  ///< of the log's header and these frames

  friend bool operator==(const LogPlace&, const LogPlace&) = default;
};

inline constexpr std::size_t kLogHeaderBytes = 32;
inline constexpr std::size_t kLogFrameHeaderBytes = 24;

/// Checks the frames of a log, one after the other: each has the log's salts and the checksum of all before it, so that
/// none can be missing, of another log or damaged.
class LogChain {
 public:
  /// The beginning of a log. Error{Corrupt} if these bytes are no header of a log.
  explicit LogChain(std::span<const std::byte> header);

  std::size_t frame_bytes() const { return kLogFrameHeaderBytes + page_bytes_; }
  const LogPlace& place() const { return place_; }
  std::span<const std::byte> header() const { return header_; }
  /// Whether these bytes begin with a header of a frame of this log.
  bool is_of_log(std::span<const std::byte> frame) const;
  /// Goes on behind the frame; false, and stays, if it is not the next one.
  bool take(std::span<const std::byte> frame);
  /// Goes on at a place of this log that was reached before.
  void jump(const LogPlace& place) { place_ = place; }

  /// Whether the frame is the last one of a transaction.
  static bool ends_transaction(std::span<const std::byte> frame);
  /// The checksum in the frame's header.
  static std::uint64_t checksum_in(std::span<const std::byte> frame);

 private:
  std::uint64_t sum(std::uint64_t before, std::span<const std::byte> bytes) const;

  std::vector<std::byte> header_;
  bool big_endian_ = false;
  std::size_t page_bytes_ = 0;
  LogPlace place_;
};

/// The end of the log that belongs to an open database.
struct LogEnd {
  std::uint64_t generation = 0;    ///< as in LogPlace
  std::uint32_t frames = 0;        ///< of committed transactions
  std::uint32_t transactions = 0;  ///< that were ever committed; counted modulo 2^32, across generations

  friend bool operator==(const LogEnd&, const LogEnd&) = default;
};

/// What SQLite's shared memory says of the log, without a lock. Error{Unsupported} for a database without a log, such
/// as one in memory.
LogEnd log_end(SqliteHandle& database);

/// Bytes of the log's file, or of the database's file, by SQLite's own descriptors; fewer than asked for at the end.
/// Error{Io}. Both change while others write: what is read of a log is checked by LogChain.
std::vector<std::byte> read_log(SqliteHandle& database, std::int64_t from, std::size_t bytes);
std::vector<std::byte> read_database_file(SqliteHandle& database, std::int64_t from, std::size_t bytes);

/// The file that SQLite keeps the log of a database in.
std::string log_file_of(const std::string& database);

}  // namespace eindb
