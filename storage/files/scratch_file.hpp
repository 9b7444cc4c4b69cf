#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "storage/files/input_file.hpp"

namespace eindb {

/// A file for what does not fit memory. It has no name, so that nothing is left of it however the process ends.
/// Threads: reads, and writes to different places, from any; append, resize and read(name) one at a time.
class ScratchFile {
 public:
  /// A file in `directory`, or where that cannot be written in temporary_directory(). Error{Io} if neither can.
  explicit ScratchFile(const std::string& directory);
  ScratchFile();
  ~ScratchFile();
  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile& operator=(ScratchFile&& other) noexcept;

  const std::string& directory() const { return directory_; }
  /// Bytes appended, or as resize() says.
  std::int64_t size() const { return size_; }
  /// Error{Io} as all writing, also when the disk is full.
  void append(std::span<const std::byte> bytes);
  /// Leaves size() as it is.
  void write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// Sets the length; what was not written reads as zeros and takes no space.
  void resize(std::int64_t size);
  /// Fills `target` with what was written there.
  void read_at(std::int64_t offset, std::span<std::byte> target) const;
  /// Ends writing: the contents, for reading. `name` is for messages.
  std::unique_ptr<InputFile> read(std::string name);

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string directory_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// The directory for temporary files: TMPDIR where that can be written, else /var/tmp or /tmp, as SQLite's.
std::string temporary_directory();

/// What files in the directory may still take; 0 if that cannot be found out.
std::int64_t free_bytes(const std::string& directory);

}  // namespace eindb
