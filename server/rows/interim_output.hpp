#pragma once

#include "server/protocol/message_writer.hpp"

namespace eindb {

/// Sends messages to a client before the running statement ends. No function waits for a client that does not read.
/// Used by the thread that runs the backend, or by one that works for it.
class InterimOutput {
 public:
  virtual ~InterimOutput() = default;
  /// Whether the last output is sent; if not, tries again to send it.
  virtual bool is_ready() = 0;
  /// Sends all of `out`, which must be whole messages, and empties it. Only if is_ready().
  virtual void send(MessageWriter& out) = 0;
};

}  // namespace eindb
