#pragma once

#include <chrono>
#include <cstddef>

namespace eindb {

/// How long clients may do nothing; zero: as long as they like.
struct IdleTimes {
  std::chrono::milliseconds session{0};  ///< between statements
  std::chrono::milliseconds in_transaction{0};
};

/// What one client may take of the server. A time of zero is none.
struct ClientLimits {
  std::size_t message_bytes = std::size_t{1} << 30U;          ///< of one message in a session, so of one value
  std::size_t statement_bytes = std::size_t{16} << 20U;       ///< of the SQL in one message
  std::chrono::milliseconds login = std::chrono::minutes(1);  ///< from the connection to the session
  std::chrono::milliseconds send = std::chrono::minutes(5);   ///< while the client takes nothing of what is sent
  IdleTimes idle;                                             ///< of clients that set none of their own
};

}  // namespace eindb
