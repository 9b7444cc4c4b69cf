#pragma once

#include <string>

#include "engine/session.hpp"

namespace eindb {

/// `eindb serve DATABASE [--listen ADDRESS:PORT]`.
struct ServeCommand {
  std::string listen = "127.0.0.1:5433";
  int workers = 0;  ///< threads that run statements; 0: by the cores
};

/// Serves clients until a signal asks to stop. Throws Error.
void run_server(const ServeCommand& command, const std::string& database, SessionOptions session);

}  // namespace eindb
