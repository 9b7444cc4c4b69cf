#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "cluster/node_log.hpp"

namespace eindb::runner {

/// The log of nodes, for tests that wait for lines. Thread-safe.
class LineLog final : public NodeLog {
 public:
  void write(Level, std::string_view event, std::string_view node, std::string_view detail) noexcept override {
    const std::lock_guard lock(mutex_);
    lines_ += std::string(event) + " " + std::string(node) + " " + std::string(detail) + "\n";
  }
  bool has(const std::string& text) const {
    const std::lock_guard lock(mutex_);
    return lines_.find(text) != std::string::npos;
  }

 private:
  mutable std::mutex mutex_;
  std::string lines_;
};

}  // namespace eindb::runner
