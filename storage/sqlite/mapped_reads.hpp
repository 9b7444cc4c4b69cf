#pragma once

#include <string>

struct sqlite3;

namespace eindb {

// SQLite reads a database where the system has mapped it. A page that the disk cannot give is then no error of a call,
// but a signal, SIGBUS, which ends the process: a server with all its clients, for one bad sector. Here such a page
// reads as zeros, and what has read it fails.
//
// Threads: any. Costs one load of memory as long as there was no such page.

/// From now on, in the whole process, for files that are mapped to be read only. All other SIGBUS go to whoever handled
/// them before.
void survive_unreadable_pages();

/// The connection is new: pages that could not be read before are none of its.
void begin_mapped_reads(sqlite3* handle) noexcept;

/// After a call of SQLite on the connection, which `has_failed` or not: whether this thread has met such a page, or may
/// meet its zeros. The connection maps its file no more: it is read by calls that fail. All that its transaction can
/// do, if it writes, is to be rolled back.
bool has_read_in_vain(sqlite3* handle, bool has_failed) noexcept;

/// Throws the Error{Io} for that; `name` is the database's.
[[noreturn]] void read_in_vain(const std::string& name);

/// Whether the open transaction may have written what it took for zeros.
bool has_spoilt_transaction(sqlite3* handle) noexcept;
/// The transaction was rolled back.
void forget_spoilt_transaction(sqlite3* handle) noexcept;

}  // namespace eindb
