#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

// Rows of COPY in PostgreSQL's binary format; all integers are in the network's order:
//
//     signature of 11 bytes
//     int32 flags                bits 0 to 15 may be passed over, others may not
//     int32 length, extension    may be passed over
//     rows:   int16 fields; of each field int32 length (-1: NULL) and as many bytes
//     int16 -1

/// No file that was taken for text on its way has it.
inline constexpr std::string_view kCopySignature{"PGCOPY\n\xff\r\n\0", 11};
/// Where the number of a row's fields would stand.
inline constexpr std::int16_t kCopyTrailer = -1;
/// As the length of a field.
inline constexpr std::int32_t kCopyNull = -1;

}  // namespace eindb
