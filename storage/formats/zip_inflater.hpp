#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "storage/formats/zip_directory.hpp"

namespace eindb {

/// The contents of a member of a ZIP archive, stored or deflated, from its first byte to its last. They have the size
/// and the checksum that the directory says, or Error{Corrupt} is thrown; no more than that size is ever given out.
/// Takes about 300 KiB. One thread at a time.
class ZipInflater {
 public:
  /// `file` must outlive it. Throws what zip_data_offset throws.
  ZipInflater(const InputFile& file, const ZipEntry& entry);
  ~ZipInflater();
  ZipInflater(const ZipInflater&) = delete;
  ZipInflater& operator=(const ZipInflater&) = delete;

  std::int64_t data_offset() const;
  /// Fills as much of `target` as there is; fewer bytes only at the end, where the checksum is verified.
  std::size_t read(std::span<std::byte> target);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eindb
