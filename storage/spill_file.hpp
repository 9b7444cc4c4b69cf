#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace eindb {

/// A file for what does not fit memory: it has no name, so that nothing is left of it however the process ends.
/// Threads: read_at from any; append one at a time.
class SpillFile {
 public:
  /// A file in `directory`, or where that cannot be written in the system's directory for temporary files (TMPDIR).
  /// Error{Io} if neither can.
  explicit SpillFile(const std::string& directory);
  ~SpillFile();
  SpillFile(SpillFile&& other) noexcept;
  SpillFile& operator=(SpillFile&& other) noexcept;

  std::int64_t size() const { return size_; }
  /// Error{Io}, also when the disk is full.
  void append(std::span<const std::byte> bytes);
  /// Fills `target`, which lies within size().
  void read_at(std::int64_t offset, std::span<std::byte> target) const;

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string directory_;
  int descriptor_;
  std::int64_t size_ = 0;
};

/// The directory for temporary files: TMPDIR, or /tmp.
std::string temporary_directory();

}  // namespace eindb
