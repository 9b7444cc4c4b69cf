#pragma once

#include <cstdint>
#include <vector>

#include "engine/arrow/arrow_values.hpp"
#include "storage/files/output_file.hpp"

namespace eindb {

/// Writes batches as a file or a stream of Arrow's IPC format, uncompressed, in memory for one batch. Not thread-safe.
class ArrowIpcWriter {
 public:
  enum class Kind : std::uint8_t {
    File,   ///< with a list of its batches at the end; .arrow, .feather
    Stream  ///< for those who read from the beginning; .arrows
  };

  /// Begins the file, which must be empty and outlive this object. `schema` is the type of a row.
  ArrowIpcWriter(OutputFile& file, ArrowField schema, Kind kind);

  /// Writes a batch of the schema's type.
  void write(const ArrowValues& batch);
  /// Writes the end; the file is to be committed then.
  void finish();

 private:
  /// The place of a batch in the file, as the footer has it.
  struct Block {
    std::int64_t offset;
    std::int32_t metadata_size;
    std::int32_t padding;
    std::int64_t body_size;
  };

  void append(const void* bytes, std::int64_t size);
  std::int32_t append_message(const std::uint8_t* bytes, std::int64_t size);

  OutputFile& file_;
  ArrowField schema_;
  Kind kind_;
  std::int64_t written_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace eindb
