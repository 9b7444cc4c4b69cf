#pragma once

#include <sqlite3.h>

#include <cstdint>

namespace eindb {

/// SQLITE_STATIC and SQLITE_TRANSIENT without old-style casts. SQLite defines the latter as the pointer -1.
inline const sqlite3_destructor_type kStatic = nullptr;
// NOLINTNEXTLINE(performance-no-int-to-ptr)
inline const auto kTransient = reinterpret_cast<sqlite3_destructor_type>(static_cast<std::intptr_t>(-1));

}  // namespace eindb
