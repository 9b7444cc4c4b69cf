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
/// Which statements are logged; errors of the server itself always are.
enum class StatementLog : std::uint8_t { None, Slow, All };

struct LogOptions {
  std::string file;  ///< which is appended to; empty: standard error
  LogFormat format = LogFormat::Text;
  LogLevel level = LogLevel::Info;
  StatementLog statements = StatementLog::None;
  std::chrono::milliseconds slow_statement{1000};  ///< what StatementLog::Slow takes for slow
};

/// What happened in the server, a line for each event, with its time in UTC and its level. Lines are handed to a thread
/// that writes them: who logs waits only if that is thousands of lines behind, and none is lost. Thread-safe.
class ServerLog {
 public:
  /// Throws Error{Io} if the file cannot be written to.
  explicit ServerLog(LogOptions options);
  /// For tests: to `stream`, at once.
  ServerLog(LogOptions options, std::ostream& stream);
  /// All lines have been written when it returns.
  ~ServerLog();
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  /// Whether events of the level are written: asked before their fields are put together.
  bool writes(LogLevel level) const noexcept { return level >= options_.level; }
  /// Whether a statement that took so long is.
  bool writes_statement(double seconds) const noexcept;

  void write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields);

 private:
  class Sink;
  const LogOptions options_;
  const std::unique_ptr<Sink> sink_;
};

}  // namespace eindb
