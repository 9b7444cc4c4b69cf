#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cluster/channel.hpp"

namespace eindb {

/// Opens control channels from a coordinator to its workers. Thread-safe.
class Connector {
 public:
  virtual ~Connector() = default;
  /// Opens an authenticated channel to the worker at `address`. Polls for cancellation as Exchange does.
  /// Error{WorkerLost} if the worker does not answer within about `timeout`; Error{Permission} if the secrets differ.
  virtual std::unique_ptr<Channel> connect(const std::string& address, std::chrono::milliseconds timeout) = 0;
};

}  // namespace eindb
