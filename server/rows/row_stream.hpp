#pragma once

#include <cstddef>
#include <functional>

#include "server/protocol/message_writer.hpp"

namespace eindb {

/// The size of a portion of output, about as much as a socket takes at once.
inline constexpr std::size_t kPortionBytes = std::size_t{128} << 10U;

/// The rows of a portal, each a DataRow, in order. Not thread-safe; must not outlive its session.
class RowStream {
 public:
  virtual ~RowStream() = default;
  /// Whether there are no more rows.
  virtual bool at_end() const = 0;
  /// Writes the next row, or continues it. Returns false if the row exceeds a portion and is not complete. If it throws
  /// Error, `out` has whole messages.
  virtual bool write(MessageWriter& out) = 0;
  /// Reads the rows that are left and keeps them, so that later statements cannot change them. Calls `count` with the
  /// bytes of each; if that throws, the stream goes on as before. Streams of tensors hold what they give anyway.
  virtual void keep_rest(const std::function<void(std::size_t)>& /*count*/) {}
  /// Writes the messages that follow the last row.
  virtual void end(MessageWriter& /*out*/) {}
};

}  // namespace eindb
