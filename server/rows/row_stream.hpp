#pragma once

#include <cstddef>

#include "server/protocol/message_writer.hpp"

namespace eindb {

/// What is written before it is sent on: about what a socket takes at once.
inline constexpr std::size_t kPortionBytes = std::size_t{128} << 10U;

/// The rows of a portal, each a DataRow, one after the other. Not thread-safe; must not outlive its session.
class RowStream {
 public:
  virtual ~RowStream() = default;
  /// Whether there is no further row.
  virtual bool at_end() const = 0;
  /// Writes the next row, or goes on with it. False if it is longer than a portion, and not at its end. Throws Error,
  /// with whole messages written.
  virtual bool write(MessageWriter& out) = 0;
  /// Writes what stands behind the last row.
  virtual void end(MessageWriter& /*out*/) {}
};

}  // namespace eindb
