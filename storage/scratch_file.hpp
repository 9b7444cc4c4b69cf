#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "storage/input_file.hpp"

namespace eindb {

/// A file without a name for what does not fit memory; it is gone with its last user, however the process ends. It
/// lies in the directory that $TMPDIR names, else in /var/tmp or /tmp, as SQLite's do. One thread at a time.
class ScratchFile {
 public:
  /// Error{Io} if there is no place for it.
  ScratchFile();
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void write_at(std::int64_t offset, std::span<const std::byte> bytes);
  /// Sets the length; what was not written reads as zeros and takes no space.
  void resize(std::int64_t size);
  /// Ends writing: the contents, for reading. `name` is for messages.
  std::unique_ptr<InputFile> read(std::string name);

 private:
  [[noreturn]] void fail() const;

  std::string directory_;
  int descriptor_ = -1;
};

}  // namespace eindb
