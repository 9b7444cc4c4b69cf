#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <variant>
#include <vector>

namespace eindb {

/// Memory that counts as SQLite's, so that values which a statement keeps are limited like other values of SQL.
template <class T>
class SqliteAllocator {
 public:
  using value_type = T;
  SqliteAllocator() = default;
  template <class U>
  SqliteAllocator(const SqliteAllocator<U>&) {}  // NOLINT(google-explicit-constructor): containers convert it

  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    void* const bytes = sqlite3_malloc64(count * sizeof(T));
    if (bytes == nullptr) throw std::bad_alloc();
    return static_cast<T*>(bytes);
  }
  void deallocate(T* bytes, std::size_t) noexcept { sqlite3_free(bytes); }
  friend bool operator==(const SqliteAllocator&, const SqliteAllocator&) { return true; }
};

template <class T>
using KeptList = std::vector<T, SqliteAllocator<T>>;
using KeptText = std::basic_string<char, std::char_traits<char>, SqliteAllocator<char>>;

/// NULL, a number or a text of SQL.
using KeptValue = std::variant<std::monostate, std::int64_t, double, KeptText>;

}  // namespace eindb
