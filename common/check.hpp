#pragma once

#include <string_view>

namespace eindb {

/// Throws Error{Internal}. Used through CHECK only.
[[noreturn]] void check_failed(const char* file, int line, std::string_view invariant);

}  // namespace eindb

/// Checks an invariant in every build; `invariant` states it in words. A failure is a bug; users' mistakes throw a
/// typed Error.
#define CHECK(condition, invariant)                           \
  do {                                                        \
    if (!(condition)) [[unlikely]]                            \
      ::eindb::check_failed(__FILE__, __LINE__, (invariant)); \
  } while (false)

/// An invariant that is too expensive to check in release builds.
#ifdef NDEBUG
#define DCHECK(condition, invariant) \
  do {                               \
  } while (false)
#else
#define DCHECK(condition, invariant) CHECK(condition, invariant)
#endif
