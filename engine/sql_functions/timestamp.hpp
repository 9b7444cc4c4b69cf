#pragma once

#include <chrono>
#include <string>

namespace eindb {

/// PostgreSQL's text of a timestamptz in UTC: "2026-01-31 23:59:59.000001+00".
std::string timestamp_text(std::chrono::system_clock::time_point time);

}  // namespace eindb
