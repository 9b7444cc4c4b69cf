#pragma once

#include <cstddef>

namespace eindb {

/// Stack size in bytes of threads that run statements, whatever the system's default. The bounds on the nesting of
/// statements rely on it.
inline constexpr std::size_t kStackBytes = std::size_t{8} << 20U;

/// New threads get kStackBytes from now on. Programs call it at their start.
void use_known_stack_size();

/// For recursion as deep as a statement nests: Error{Unsupported} if the remaining stack of this thread may not
/// suffice. Threads created by other programs may have less than kStackBytes. Takes a few instructions.
void require_stack();

}  // namespace eindb
