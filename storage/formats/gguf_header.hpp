#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/files/input_file.hpp"
#include "storage/formats/k_quants.hpp"
#include "tensor/shape.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// One tensor of a GGUF file.
struct GgufEntry {
  std::string name;
  std::string type;                  ///< GGML's name for it: "Q8_0", ...
  std::optional<StoredType> stored;  ///< nullopt: a type that tensors cannot have
  std::optional<KQuant> quant = {};  ///< of the file's blocks, where `stored` is FLOAT32 and they are not
  Shape shape;                       ///< row-major: GGML's dimensions from the last one to the first
  std::int64_t data_offset = 0;      ///< from the start of the file

  /// The cells and the bytes of a block in the file; `stored` is set.
  EncodingUnit unit() const { return quant ? unit_of(*quant) : unit_of(*stored); }
};

/// Reads and verifies the header of a GGUF file, version 2 or 3, little-endian: its metadata are skipped, and the data
/// of every tensor of a type that is known must lie in the file. Error{Corrupt} with path and byte for an invalid file;
/// Error{Unsupported} for other versions, files of the other byte order, and headers above 256 MiB. Takes memory for
/// the names and shapes.
std::vector<GgufEntry> read_gguf_header(const InputFile& file);

}  // namespace eindb
