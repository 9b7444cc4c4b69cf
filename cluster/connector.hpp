#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cluster/channel.hpp"

namespace eindb {

/// How a coordinator gets a control channel to a worker. Thread-safe.
class Connector {
 public:
  virtual ~Connector() = default;
  /// An authenticated channel to the worker at `address`. Looks for cancellation as Exchange does. Error{WorkerLost} if
  /// nobody answers in about that time;
  /// Error{Permission} if they do not know each other's secret.
  virtual std::unique_ptr<Channel> connect(const std::string& address, std::chrono::milliseconds timeout) = 0;
};

}  // namespace eindb
