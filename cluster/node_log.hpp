#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

/// The log for events of a node: workers that join and leave, refused connections.
class NodeLog {
 public:
  enum class Level : std::uint8_t { Info, Warning };

  virtual ~NodeLog() = default;
  /// `event` is short, such as "worker joined"; `node` is an address; `detail` may contain untrusted bytes.
  /// Thread-safe.
  virtual void write(Level level, std::string_view event, std::string_view node, std::string_view detail) noexcept = 0;
};

}  // namespace eindb
