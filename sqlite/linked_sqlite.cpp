// Compiled by itself: <sqlite3ext.h> makes macros of SQLite's functions, and this is about the function itself.

#include <dlfcn.h>

// NOLINTNEXTLINE(readability-redundant-declaration): <sqlite3.h> is the storage's.
extern "C" int sqlite3_libversion_number();

namespace eindb_sqlite {

bool is_in_linked_sqlite(const void* function);

// Addresses of functions may be those of entries of a table, so that the libraries are compared.
bool is_in_linked_sqlite(const void* function) {
  Dl_info theirs{};
  Dl_info ours{};
  return dladdr(function, &theirs) != 0 &&
         dladdr(reinterpret_cast<const void*>(&sqlite3_libversion_number), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
}

}  // namespace eindb_sqlite
