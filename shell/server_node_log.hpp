#pragma once

#include <string_view>

#include "cluster/node_log.hpp"
#include "server/monitoring/server_log.hpp"

namespace eindb {

/// Writes the events of a cluster's node to the program's log.
class ServerNodeLog final : public NodeLog {
 public:
  /// `log` must outlive it.
  explicit ServerNodeLog(ServerLog& log) : log_(log) {}

  void write(Level level, std::string_view event, std::string_view node, std::string_view detail) noexcept override {
    log_.write(level == Level::Info ? LogLevel::Info : LogLevel::Warning, event, {{"node", node}, {"detail", detail}});
  }

 private:
  ServerLog& log_;
};

}  // namespace eindb
