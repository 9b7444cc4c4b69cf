#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace eindb {

/// A file in transit between a client and a COPY. The destructor unlinks it; open readers can finish. Not thread-safe;
/// must not outlive its directory.
class TransferFile {
 public:
  explicit TransferFile(std::string path) : path_(std::move(path)) {}
  ~TransferFile();
  TransferFile(const TransferFile&) = delete;
  TransferFile& operator=(const TransferFile&) = delete;

  /// The path for the COPY to read or write.
  const std::string& path() const { return path_; }

  /// Error{Io} if the disk is full.
  void append(std::string_view bytes);
  /// Reads the next bytes; empty at the end. Error{Io} if the file does not exist.
  std::string_view read(std::span<char> buffer);

 private:
  void open(int flags);
  [[noreturn]] void fail(const char* what) const;

  std::string path_;
  int descriptor_ = -1;
};

/// The directory for files in transit. It lies beside the database, or among the temporary files if the database's
/// folder is not writable, and only this user can access it. The destructor removes it; the next process removes
/// directories that a killed process left. Thread-safe.
class TransferDirectory {
 public:
  /// The directory is created with the first file.
  explicit TransferDirectory(const std::string& database);
  ~TransferDirectory();
  TransferDirectory(const TransferDirectory&) = delete;
  TransferDirectory& operator=(const TransferDirectory&) = delete;

  /// Creates an empty file. Error{Io} if no directory can be created.
  std::unique_ptr<TransferFile> make();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb
