#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "server/monitoring/log_line.hpp"

namespace eindb {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error, Off };
/// The statements that are logged. Internal errors of the server are always logged.
enum class StatementLog : std::uint8_t { None, Slow, All };

struct LogOptions {
  std::string file;  ///< lines are appended to it; empty: standard error
  LogFormat format = LogFormat::Text;
  LogLevel level = LogLevel::Info;
  StatementLog statements = StatementLog::None;
  std::chrono::milliseconds slow_statement{1000};  ///< the limit for StatementLog::Slow
};

/// The log of the server: one line per event, with its UTC time and its level. A separate thread writes the lines; a
/// logging thread waits only if the writer is thousands of lines behind. No line is lost. Thread-safe.
class ServerLog {
 public:
  /// Throws Error{Io} if the file is not writable.
  explicit ServerLog(LogOptions options);
  /// For tests: writes to `stream` immediately.
  ServerLog(LogOptions options, std::ostream& stream);
  /// Returns once all lines are written.
  ~ServerLog();
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  /// Whether events of this level are written. Check it before building an event's fields.
  bool writes(LogLevel level) const noexcept { return level >= options_.level; }
  /// Whether a statement of this duration is written.
  bool writes_statement(double seconds) const noexcept;

  void write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields);

 private:
  class Sink;
  const LogOptions options_;
  const std::unique_ptr<Sink> sink_;
};

}  // namespace eindb
