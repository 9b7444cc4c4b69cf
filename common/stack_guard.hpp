#pragma once

#include <cstddef>

namespace eindb {

/// Bytes of the stack of a thread that runs statements, whatever the system's default is. The bounds on how deep
/// statements nest are chosen for it.
inline constexpr std::size_t kStackBytes = std::size_t{8} << 20U;

/// Threads made from now on have kStackBytes. For programs, when they begin.
void use_known_stack_size();

/// For what recurses as deep as a statement nests: Error{Unsupported} where so little is left of this thread's stack
/// that going on might end the process. Threads that programs make may have less than kStackBytes. A few instructions.
void require_stack();

}  // namespace eindb
