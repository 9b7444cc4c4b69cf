#pragma once

#include <cstddef>
#include <exception>
#include <set>

namespace eindb {

/// Rows that a user still reads out of a connection. What the connection writes meanwhile must not show in them.
class RowsBeingRead {
 public:
  virtual ~RowsBeingRead() = default;
  /// Takes the rest of the rows into memory, and lets go of the connection. Returns the bytes that they take, at most
  /// `most`. Error{MemoryLimit} where they are more: what was taken is kept, and the rest can still be read. An error
  /// of a row is thrown when that row is read, not here.
  virtual std::size_t keep(std::size_t most) = 0;
  /// Lets go of the connection. Whoever reads on gets the error behind what was kept.
  virtual void give_up(std::exception_ptr error) noexcept = 0;
};

/// The rows of a session that are not read to their end. Used by one thread at a time.
class OpenRows {
 public:
  OpenRows() = default;
  OpenRows(const OpenRows&) = delete;
  OpenRows& operator=(const OpenRows&) = delete;

  void add(RowsBeingRead& rows) { rows_.insert(&rows); }
  /// Nothing happens where they are not there.
  void remove(RowsBeingRead& rows) noexcept { rows_.erase(&rows); }
  bool empty() const { return rows_.empty(); }
  /// Call before the session changes what rows may be read from. All of them are in memory then, and are open no more.
  /// Error{MemoryLimit} where they take more than `most` bytes.
  void keep_all(std::size_t most);
  /// The same before a rollback, which always happens: rows that cannot be kept are given up.
  void keep_what_fits(std::size_t most) noexcept;

 private:
  std::set<RowsBeingRead*> rows_;
};

}  // namespace eindb
