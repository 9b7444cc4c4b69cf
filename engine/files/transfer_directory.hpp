#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace eindb {

/// A file on its way between a client and a COPY. It is gone with the object, as far as nobody reads it any more.
/// Not thread-safe; must not outlive its directory.
class TransferFile {
 public:
  explicit TransferFile(std::string path) : path_(std::move(path)) {}
  ~TransferFile();
  TransferFile(const TransferFile&) = delete;
  TransferFile& operator=(const TransferFile&) = delete;

  /// Where a COPY is to read or write it.
  const std::string& path() const { return path_; }

  /// Error{Io}: the disk is full.
  void append(std::string_view bytes);
  /// What comes next; empty at the end. Error{Io} if it is not there.
  std::string_view read(std::span<char> buffer);

 private:
  void open(int flags);
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  int descriptor_ = -1;
};

/// Where such files lie: beside the database, or where that cannot be written among temporary files, in a directory
/// that only this user may look into. It is removed at the end; what a process left behind that was killed is removed
/// by the next one. Thread-safe.
class TransferDirectory {
 public:
  /// Nothing is made before the first file.
  explicit TransferDirectory(const std::string& database);
  ~TransferDirectory();
  TransferDirectory(const TransferDirectory&) = delete;
  TransferDirectory& operator=(const TransferDirectory&) = delete;

  /// A new one, empty. Error{Io} where no directory can be made.
  std::unique_ptr<TransferFile> make();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb
