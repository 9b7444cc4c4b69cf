#pragma once

#include <string>

struct sqlite3;

namespace eindb {

// SQLite reads a database through a memory mapping. If the disk cannot deliver a page, no call fails; the process gets
// the signal SIGBUS, which would end a server with all its clients because of one bad sector. With these functions
// such a page reads as zeros, and the call that read it fails.
//
// Thread-safe. Costs one load of memory as long as no page was unreadable.

/// Installs the SIGBUS handler for the process. It handles files that are mapped read-only; every other SIGBUS goes to
/// the previous handler.
void survive_unreadable_pages();

/// For a new connection: ignores pages that were unreadable before.
void begin_mapped_reads(sqlite3* handle) noexcept;

/// To be called after each SQLite call on the connection; `has_failed` tells whether it failed. Returns whether this
/// thread has read such a page, or may still read its zeros. If so, the connection stops mapping its file and reads it
/// by system calls that can fail. If its transaction has written, it can only be rolled back.
bool has_read_in_vain(sqlite3* handle, bool has_failed) noexcept;

/// Throws the Error{Io} for an unreadable page; `name` is the database's.
[[noreturn]] void read_in_vain(const std::string& name);

/// Whether the open transaction may have written data derived from unreadable pages.
bool has_spoilt_transaction(sqlite3* handle) noexcept;
/// To be called once the transaction is rolled back.
void forget_spoilt_transaction(sqlite3* handle) noexcept;

}  // namespace eindb
