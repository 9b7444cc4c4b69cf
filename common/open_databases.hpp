#pragma once

#include <string>

namespace eindb {

// SQLite's locks are POSIX locks, which belong to a process and a file, not to a descriptor: a process that closes any
// descriptor of a file loses all locks that it holds on it. Whoever looked at a database beside SQLite, and be it at
// its first bytes, would leave it unlocked: the next process takes itself for the only one, and what this one commits
// afterwards is lost. Hence one rule. No file of a database that is open in this process -- the file itself, its -wal,
// -shm and -journal -- is opened, replaced or removed by anything but SQLite. Files are told by device and inode,
// whatever the path: links, relative paths, /proc/self/fd.
//
// The list of open databases belongs to the whole process, as SQLite's locks do; nothing else in eindb does. All
// functions are thread-safe, but not for a child that was forked from a process of several threads.

/// SQLite has opened a database for `connection`, and not locked it yet. `path` is absolute, without symbolic links, as
/// sqlite3_db_filename() has it; empty for a database without a file.
void database_opened(const void* connection, const std::string& path);
/// SQLite has closed it. With the last connection, descriptors of it close that others wanted to close meanwhile.
void database_closed(const void* connection) noexcept;

/// Whether `path`, from `directory` on as the system's calls that end in "at" take it, is a file of a database that is
/// open here, or would be one if it were made.
bool is_of_open_database(int directory, const std::string& path);
/// Error{Permission} if it is; `what` begins the message: "cannot write x.npy".
void refuse_open_database(int directory, const std::string& path, const std::string& what);

/// Before SQLite opens `path` as a database: Error{Permission} if that is the log of another that is open here, or one
/// that is open here by another name, whose log would be another.
void refuse_as_database(const std::string& path);

}  // namespace eindb
