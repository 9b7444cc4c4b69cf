#pragma once

#include <string>

namespace eindb {

// SQLite's locks are POSIX locks, which belong to a process and a file, not to a descriptor: a process that closes any
// descriptor of a file loses all its locks on that file. If code other than SQLite read even the first bytes of an
// open database, it would leave the database unlocked; another process could then write concurrently, and later
// commits of this process would be lost. Hence one rule: no file of a database that is open in this process -- the
// file itself, its -wal, -shm and -journal -- is opened, replaced or removed by anything but SQLite. Files are
// identified by device and inode, whatever the path: links, relative paths, /proc/self/fd.
//
// The list of open databases belongs to the whole process, as SQLite's locks do. All functions are thread-safe, except
// in a child forked from a process with several threads.

/// To be called when SQLite has opened a database for `connection`, before it locks it. `path` is absolute, without
/// symbolic links, as from sqlite3_db_filename(); empty for a database without a file.
void database_opened(const void* connection, const std::string& path);
/// To be called when SQLite has closed it. After the last connection, descriptors whose closing was delayed are closed.
void database_closed(const void* connection) noexcept;

/// Whether `path`, relative to `directory` as for openat(2), is a file of an open database, or would become one if
/// created.
bool is_of_open_database(int directory, const std::string& path);
/// Throws Error{Permission} if it is; `what` begins the message: "cannot write x.npy".
void refuse_open_database(int directory, const std::string& path, const std::string& what);

/// To be called before SQLite opens `path` as a database. Error{Permission} if it is the log of another open database,
/// or a database that is open under another name, which would have another log.
void refuse_as_database(const std::string& path);

}  // namespace eindb
