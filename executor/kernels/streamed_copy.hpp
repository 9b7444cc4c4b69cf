#pragma once

#include <cstddef>

namespace eindb {

/// Copies past the caches, for results that these do not hold anyway: the lines that are written need not be
/// read first, and what the caches hold stays there. Thread-safe, as memcpy is.

/// Whether a result of so many bytes is one that a core's own caches do not hold.
bool exceeds_caches(std::size_t all_bytes);
/// Whether rows of `row_bytes` are better streamed into a result of `all_bytes`.
bool is_streamed(std::size_t row_bytes, std::size_t all_bytes);
/// Copies like memcpy. Other threads may read the row once end_streams() was called.
void stream_row(void* to, const void* from, std::size_t bytes);
void end_streams();

}  // namespace eindb
