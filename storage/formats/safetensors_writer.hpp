#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/output_file.hpp"
#include "storage/formats/existing_arrays.hpp"
#include "tensor/stored_type.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The type with that name in the format, "F16" or "I8", case-insensitively; nullopt for others, and for those that
/// tensors cannot have.
std::optional<StoredType> parse_safetensors_type(std::string_view name);
/// The names of all of them, for messages: "F64, F32, ...".
std::string safetensors_type_names();

/// Writes a safetensors file with one tensor block by block. The file appears with commit(); otherwise nothing remains.
/// Blocks that are never written are zeros. Threads: write_block from any thread once constructed; the rest one at a
/// time.
class SafetensorsWriter {
 public:
  /// Without `wanted`, elements keep the type that their tensor is stored as, if the format has it; with it, real
  /// numbers are rounded to the nearest of that type, ties to even, and integers beyond its range are Error{Value} of
  /// write_block. Error{Unsupported} for complex numbers, and for integers as floats and floats as integers;
  /// Error{Value} for a name that the format reserves; Error{Io} if the file cannot be created, or is a pipe or a
  /// device; the errors of keep_other_arrays().
  SafetensorsWriter(const FilePath& path, const std::string& name, StoredType type, Shape shape,
                    std::optional<StoredType> wanted = std::nullopt, Overwrite overwrite = Overwrite::No);

  /// Puts `block`, which has the values of the tensor's type, at `begin`. Blocks come in any order and must not
  /// overlap.
  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  DType dtype_;  // of blocks
  Shape shape_;
  StoredType stored_;
  std::int64_t data_offset_ = 0;
};

}  // namespace eindb
