#pragma once

namespace eindb {

/// Whether the program is built with AddressSanitizer, ThreadSanitizer or MemorySanitizer, which replace malloc, need
/// address space of their own, and only understand memory that comes from malloc.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace eindb
