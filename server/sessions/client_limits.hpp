#pragma once

#include <chrono>
#include <cstddef>

namespace eindb {

/// The longest time that clients may be idle; zero: unlimited.
struct IdleTimes {
  std::chrono::milliseconds session{0};  ///< between statements
  std::chrono::milliseconds in_transaction{0};
};

/// The limits for one client. A time of zero means no limit.
struct ClientLimits {
  std::size_t message_bytes = std::size_t{1} << 30U;          ///< of one message in a session, and so of one value
  std::size_t statement_bytes = std::size_t{16} << 20U;       ///< of the SQL in one message
  std::chrono::milliseconds login = std::chrono::minutes(1);  ///< from connecting to having a session
  std::chrono::milliseconds send = std::chrono::minutes(5);   ///< while the client takes none of the output
  IdleTimes idle;                                             ///< for clients that set none themselves
};

}  // namespace eindb
