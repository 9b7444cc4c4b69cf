#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/arrow/arrow_batches.hpp"
#include "engine/arrow/flat_table.hpp"
#include "storage/files/input_file.hpp"

namespace eindb {

/// Reads a file or a stream of Arrow's IPC format, batch by batch. All bytes are checked before they are believed; a
/// batch may take a quarter of `memory_limit`. Not thread-safe.
class ArrowIpcReader final : public ArrowBatchSource {
 public:
  /// Reads the schema. Error{Corrupt} for another or a damaged file, Error{Unsupported} for big-endian files and for
  /// columns that are not read (arrow_type); of next() also for compressed batches and dictionaries that change.
  ArrowIpcReader(const InputFile& file, std::int64_t memory_limit);

  ArrowField schema() override { return schema_; }
  std::optional<ArrowValues> next() override;

 private:
  /// A message of the stream, of which the metadata have been read.
  struct Message {
    std::vector<std::byte> metadata;
    std::int64_t body_offset = 0;
    std::int64_t body_size = 0;
    std::uint8_t type = 0;
  };
  struct BatchReading;

  void read_stream_schema();
  void read_footer();
  std::optional<Message> next_message();
  std::optional<Message> message_at();
  void read_schema(const FlatTable& schema);
  ArrowField field_of(const FlatTable& field, int depth);
  std::string format_of(const FlatTable& field) const;
  ArrowValues batch_of(const FlatTable& header, const Message& message, const ArrowField& field) const;
  ArrowValues column_of(const ArrowField& field, BatchReading& reading) const;
  void take_dictionary(const FlatTable& header, const Message& message);
  void add_dictionaries(const ArrowField& field, ArrowValues& values) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const;

  const InputFile& file_;
  std::string name_;
  std::int64_t most_;
  std::int64_t at_ = 0;  // in a stream, of the next message
  bool is_stream_ = false;
  std::vector<std::int64_t> blocks_;  // in a file, where its messages begin
  std::size_t block_ = 0;
  std::size_t fields_ = 0;  // of the schema so far
  ArrowField schema_;
  std::map<std::int64_t, ArrowField> dictionary_fields_;  // by their numbers
  std::map<std::int64_t, ArrowValues> dictionaries_;
};

}  // namespace eindb
