#pragma once

#include <eindb/arrow.hpp>
#include <optional>

#include "api/arrow_owned.hpp"
#include "engine/arrow/arrow_batches.hpp"

namespace eindb {

// Structs of Arrow's come from other libraries of the program. What they say of themselves is checked: numbers of
// buffers and children here, formats, lengths, offsets and positions of texts in engine/arrow. How long a buffer is
// they do not say, so that one that is too short cannot be seen.

/// Batches of a stream, which it owns.
class ArrowBatches final : public ArrowBatchSource {
 public:
  /// Takes over the stream. Error{Corrupt} if its schema is wrong or it gives none, Error{Io} with the stream's own
  /// message where it fails.
  explicit ArrowBatches(ArrowArrayStream& stream);

  ArrowField schema() override { return field_; }
  std::optional<ArrowValues> next() override;

 private:
  [[noreturn]] void fail(int code);

  ArrowOwned<ArrowArrayStream> stream_;
  ArrowField field_;
};

}  // namespace eindb
