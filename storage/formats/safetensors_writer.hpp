#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/output_file.hpp"
#include "storage/formats/existing_arrays.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The element types that can be written to a safetensors file.
enum class SafetensorsType : std::uint8_t { F16, BF16, F32, F64, I64 };

/// The type's name in the format: "F16", ...
std::string_view name_of(SafetensorsType type);
/// Parses a type's name, case-insensitively.
std::optional<SafetensorsType> parse_safetensors_type(std::string_view name);

/// Writes a safetensors file with one tensor block by block. The file appears with commit(); otherwise nothing remains.
/// Blocks that are never written are zeros. Threads: write_block from any thread once constructed; the rest one at a
/// time.
class SafetensorsWriter {
 public:
  /// Without `stored`, elements keep their type; with it, real numbers are rounded to the nearest of that type, ties to
  /// even. Error{Unsupported} for complex numbers, and for INT64 with a `stored` float type; Error{Value} for a name
  /// that the format reserves; Error{Io} if the file cannot be created, or is a pipe or a device; the errors of
  /// keep_other_arrays().
  SafetensorsWriter(const FilePath& path, const std::string& name, DType dtype, Shape shape,
                    std::optional<SafetensorsType> stored = std::nullopt, Overwrite overwrite = Overwrite::No);

  /// Puts `block`, whose type is the tensor's, at `begin`. Blocks come in any order and must not overlap.
  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  DType dtype_;
  Shape shape_;
  SafetensorsType stored_;
  std::int64_t data_offset_ = 0;
};

}  // namespace eindb
