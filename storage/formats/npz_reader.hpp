#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/formats/byte_progress.hpp"
#include "storage/formats/npy_header.hpp"
#include "storage/formats/zip_directory.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Reads blocks of one array of an NPZ file, which is a ZIP archive of NPY files. The first block verifies the member's
/// checksum and inflates a deflated member to a temporary file, so blocks may come in any order and memory stays at a
/// few MiB. Not thread-safe.
class NpzReader {
 public:
  /// Opens the array `member`, with or without ".npy", or, if that is empty, the only one. Throws the errors of
  /// read_zip_directory, choose_array and read_npy_header; Error{Corrupt} if the member is longer than its array.
  /// `progress`, if given, receives the progress of the first block's pass.
  NpzReader(const FilePath& path, const std::string& member, ByteProgress progress = {});
  /// Opens a member that npz_members() has found in the file.
  NpzReader(const FilePath& path, const ZipEntry& member, ByteProgress progress = {});

  DType dtype() const { return array_.element.dtype(); }
  /// That of a tensor that keeps the file's elements.
  StoredType type() const { return array_.element.type(); }
  const Shape& shape() const { return array_.shape; }
  /// Reads the values in another shape; see reshape_array.
  void reshape(const Shape& shape) { reshape_array(array_, shape, file_.path()); }
  /// The block of `extents` at `begin`, which must lie within shape(); see read_dense_block.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents);

 private:
  void read_header();
  void prepare();

  InputFile file_;
  ZipEntry entry_;
  NpyHeader array_;  // data_offset counts from the member's start until prepare() has run
  ByteProgress progress_;
  std::unique_ptr<InputFile> inflated_;
  bool prepared_ = false;
};

/// The arrays in an NPZ file, in its order; their names end with ".npy". The errors of read_zip_directory.
std::vector<ZipEntry> npz_members(const InputFile& file);
/// The name of an array by that of its member.
std::string npz_array_name(const ZipEntry& member);
/// "x.npz: member 'a.npy'", for messages.
std::string npz_member_text(const InputFile& file, const ZipEntry& member);
/// The header of a member of `size` bytes by its first min(kNpyPrefix, size); `name` is for messages. The errors of
/// parse_npy_header, and Error{Corrupt} if the member is longer than its array.
NpyHeader parse_npz_header(const std::string& name, std::span<const std::byte> prefix, std::int64_t size);

}  // namespace eindb
