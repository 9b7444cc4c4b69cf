#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/copy/copy_error.hpp"
#include "server/copy/copy_fields.hpp"
#include "server/copy/copy_format.hpp"

namespace eindb {

/// What rows are copied into.
struct CopyTarget {
  std::string table;                 ///< as contexts of errors call it
  std::vector<std::string> columns;  ///< those that rows have, in their order; one at least
};

/// Bytes that a row may have, unless it is said otherwise.
inline constexpr std::size_t kMostCopyRowBytes = (std::size_t{1} << 30U) - 1;

/// Reads the rows that a client sends for COPY ... FROM STDIN, however they are cut into messages:
///
///     for (each CopyData) {
///       decoder->append(bytes);
///       while (const auto* row = decoder->next()) ...
///     }
///     decoder->finish();  // CopyDone
///     while (const auto* row = decoder->next()) ...
///
/// What rows of text and CSV say is accepted and refused as PostgreSQL does, and so are binary ones, except that one
/// that ends within the number of its fields is refused. Memory grows only with bytes that have come, up to the limit
/// of a row. After an error the decoder is not used again. Not thread-safe.
class CopyDecoder {
 public:
  virtual ~CopyDecoder() = default;

  virtual void append(std::string_view bytes) = 0;
  /// No more bytes will come.
  virtual void finish() = 0;
  /// The fields of the next row, one for each column; null if it has not come whole, or there are no more. Valid until
  /// append() or next(). Throws CopyError: Corrupt for rows that have not the form they are to have, Value for bytes
  /// that are no UTF-8 and for rows that are too long.
  virtual const std::vector<CopyField>* next() = 0;

  /// `cause` as an error about a field of the row that next() gave last, or about all of it.
  virtual CopyError error_in(std::size_t column, const Error& cause) const = 0;
  virtual CopyError error_in_row(const Error& cause) const = 0;
};

/// Error{UnknownName} for a column of FORCE_NULL or FORCE_NOT_NULL that is not there.
std::unique_ptr<CopyDecoder> make_copy_decoder(const CopyFormatOptions& options, CopyTarget target,
                                               std::size_t most_row_bytes = kMostCopyRowBytes);

}  // namespace eindb
