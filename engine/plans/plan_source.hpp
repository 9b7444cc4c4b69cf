#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

/// How a statement came to its plan.
enum class PlanSource : std::uint8_t {
  Made,     ///< there was none in the session's cache
  Cached,   ///< taken from there
  Uncached  ///< made, with the cache off
};
/// "miss", "hit" or "off": what the plan cache said.
std::string_view name_of(PlanSource source);

}  // namespace eindb
