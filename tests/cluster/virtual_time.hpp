#pragma once

namespace eindb {

/// Whether the clock of this program is virtual (tests/simulation), so that no load of the machine makes anything late.
/// Only then do tests have upper bounds on times.
#ifdef EINDB_VIRTUAL_TIME
inline constexpr bool kVirtualTime = true;
#else
inline constexpr bool kVirtualTime = false;
#endif

}  // namespace eindb
