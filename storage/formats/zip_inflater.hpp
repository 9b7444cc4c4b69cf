#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "storage/formats/zip_directory.hpp"

namespace eindb {

/// The contents of a stored or deflated member of a ZIP archive, from first to last byte. Throws Error{Corrupt} if
/// their size or checksum differs from the directory's, and never returns more than that size. Takes about 300 KiB. Not
/// thread-safe.
class ZipInflater {
 public:
  /// `file` must outlive it. Throws the errors of zip_data_offset.
  ZipInflater(const InputFile& file, const ZipEntry& entry);
  ~ZipInflater();
  ZipInflater(const ZipInflater&) = delete;
  ZipInflater& operator=(const ZipInflater&) = delete;

  std::int64_t data_offset() const;
  /// Fills as much of `target` as possible; fewer bytes only at the end, where the checksum is verified.
  std::size_t read(std::span<std::byte> target);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eindb
