#pragma once

#include "server/protocol/message_writer.hpp"

namespace eindb {

/// A client's connection, for whoever has something to tell it before the statement that runs is at its end. Nothing
/// here waits for a client that does not read. Used by the thread that has the backend, or by one that works for it.
class InterimOutput {
 public:
  virtual ~InterimOutput() = default;
  /// Whether what was sent last has gone; if not, it is tried again.
  virtual bool is_ready() = 0;
  /// Sends all of `out`, whole messages, and leaves it empty. Only if is_ready().
  virtual void send(MessageWriter& out) = 0;
};

}  // namespace eindb
