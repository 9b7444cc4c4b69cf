#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

/// How a statement got its plan.
enum class PlanSource : std::uint8_t {
  Made,     ///< the session's cache had none
  Cached,   ///< from the cache
  Uncached  ///< made with the cache off
};
/// The state of the plan cache as EXPLAIN names it: "miss", "hit" or "off".
std::string_view name_of(PlanSource source);

}  // namespace eindb
