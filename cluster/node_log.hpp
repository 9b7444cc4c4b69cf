#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

/// Where a node says what happens to it: workers that join and leave, connections that are refused.
class NodeLog {
 public:
  enum class Level : std::uint8_t { Info, Warning };

  virtual ~NodeLog() = default;
  /// `event` in a few words, as in "worker joined"; `node` is an address; `detail` may hold bytes from outside.
  /// Thread-safe.
  virtual void write(Level level, std::string_view event, std::string_view node, std::string_view detail) noexcept = 0;
};

}  // namespace eindb
