#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

// The format of COPY's binary rows in PostgreSQL; all integers are big-endian:
//
//     signature of 11 bytes
//     int32 flags                bits 0 to 15 may be passed over, others may not
//     int32 length, extension    may be passed over
//     rows:   int16 fields; of each field int32 length (-1: NULL) and as many bytes
//     int16 -1

/// The signature contains bytes that a transfer in text mode would change.
inline constexpr std::string_view kCopySignature{"PGCOPY\n\xff\r\n\0", 11};
/// Stands in place of the number of a row's fields.
inline constexpr std::int16_t kCopyTrailer = -1;
/// The length of a NULL field.
inline constexpr std::int32_t kCopyNull = -1;

}  // namespace eindb
