#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "storage/files/input_file.hpp"

namespace eindb {

/// A file for data beyond memory. It has no name, so nothing remains of it however the process ends. Threads: reads,
/// and writes to different places, from any thread; append(), resize() and read(name) one at a time.
class ScratchFile {
 public:
  /// A file in `directory`, or in temporary_directory() if that is empty or not writable. Error{Io} if neither is.
  explicit ScratchFile(const std::string& directory);
  ScratchFile();
  ~ScratchFile();
  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile& operator=(ScratchFile&& other) noexcept;

  const std::string& directory() const { return directory_; }
  /// Bytes appended, or set by resize().
  std::int64_t size() const { return size_; }
  /// Error{Io}, like all writes, also if the disk is full.
  void append(std::span<const std::byte> bytes);
  /// Does not change size().
  void write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// Sets the length; unwritten parts read as zeros and take no space.
  void resize(std::int64_t size);
  /// Fills `target` with the bytes written there.
  void read_at(std::int64_t offset, std::span<std::byte> target) const;
  /// Ends writing and returns the contents for reading. `name` is for messages.
  std::unique_ptr<InputFile> read(std::string name);

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string directory_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// The directory for temporary files: TMPDIR if it is writable, else /var/tmp or /tmp, as in SQLite.
std::string temporary_directory();

/// Bytes that files in the directory may still take; 0 if unknown.
std::int64_t free_bytes(const std::string& directory);

}  // namespace eindb
