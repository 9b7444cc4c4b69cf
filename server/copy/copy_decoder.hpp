#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/copy_fields.hpp"
#include "engine/files/copy_format.hpp"
#include "server/copy/copy_error.hpp"

namespace eindb {

/// The destination of copied rows.
struct CopyTarget {
  std::string table;                 ///< name for the context of errors
  std::vector<std::string> columns;  ///< the columns of the rows, in order; at least one
};

/// The default limit for the bytes of a row.
inline constexpr std::size_t kMostCopyRowBytes = (std::size_t{1} << 30U) - 1;

/// Decodes the rows that a client sends for COPY ... FROM STDIN, however they are divided into messages:
///
///     for (each CopyData) {
///       decoder->append(bytes);
///       while (const auto* row = decoder->next()) ...
///     }
///     decoder->finish();  // CopyDone
///     while (const auto* row = decoder->next()) ...
///
/// Accepts and refuses the same text and CSV rows as PostgreSQL, and the same binary rows, except that it refuses a
/// stream that ends within the number of a row's fields. Memory use is bounded by the bytes received, up to the limit
/// of a row. Not usable after an error. Not thread-safe.
class CopyDecoder {
 public:
  virtual ~CopyDecoder() = default;

  virtual void append(std::string_view bytes) = 0;
  /// No more bytes will come.
  virtual void finish() = 0;
  /// The fields of the next row, one for each column; null if it is not complete yet, or if there are no more rows.
  /// Valid until append() or next(). Throws CopyError: Corrupt for malformed rows, Value for invalid UTF-8 and for rows
  /// that are too long.
  virtual const std::vector<CopyField>* next() = 0;

  /// Converts `cause` to an error about a field of the row that next() returned last, or about the whole row.
  virtual CopyError error_in(std::size_t column, const Error& cause) const = 0;
  virtual CopyError error_in_row(const Error& cause) const = 0;
};

/// Error{UnknownName} for an unknown column in FORCE_NULL or FORCE_NOT_NULL.
std::unique_ptr<CopyDecoder> make_copy_decoder(const CopyFormatOptions& options, CopyTarget target,
                                               std::size_t most_row_bytes = kMostCopyRowBytes);

}  // namespace eindb
