#include "server/monitoring/server_log.hpp"

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <new>
#include <span>
#include <utility>

#include "common/error.hpp"

namespace eindb {
namespace {

// The capacity of the queue of lines; when it is full, logging threads wait.
constexpr std::size_t kMostWaiting = 4096;
constexpr const char* kLoggerName = "eindb";

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
    case LogLevel::Off: break;
  }
  return spdlog::level::off;
}

const char* pattern_of(LogFormat format) {
  return format == LogFormat::Json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v)"
                                   : "%Y-%m-%dT%H:%M:%S.%fZ %l %v";
}

spdlog::sink_ptr sink_of(const std::string& file) {
  if (file.empty()) return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  try {
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
  } catch (const spdlog::spdlog_ex& error) {
    throw Error(ErrorKind::Io, "cannot write the log to " + file + ": " + error.what(), std::nullopt,
                "give another file with --log FILE");
  }
}

}  // namespace

class ServerLog::Sink {
 public:
  explicit Sink(const LogOptions& options) : threads_(std::make_shared<spdlog::details::thread_pool>(kMostWaiting, 1)) {
    use(options, std::make_shared<spdlog::async_logger>(kLoggerName, sink_of(options.file), threads_,
                                                        spdlog::async_overflow_policy::block));
  }
  Sink(const LogOptions& options, std::ostream& stream) {
    use(options,
        std::make_shared<spdlog::logger>(kLoggerName, std::make_shared<spdlog::sinks::ostream_sink_mt>(stream, true)));
  }

  void write(LogLevel level, const std::string& line) {
    logger_->log(level_of(level), spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  void use(const LogOptions& options, std::shared_ptr<spdlog::logger> logger) {
    logger_ = std::move(logger);
    logger_->set_pattern(pattern_of(options.format), spdlog::pattern_time_type::utc);
    logger_->set_level(level_of(options.level));
    logger_->flush_on(spdlog::level::debug);
  }

  std::shared_ptr<spdlog::details::thread_pool> threads_;  // writes the queued lines in its destructor
  std::shared_ptr<spdlog::logger> logger_;
};

ServerLog::ServerLog(LogOptions options) : options_(std::move(options)), sink_(std::make_unique<Sink>(options_)) {}
ServerLog::ServerLog(LogOptions options, std::ostream& stream)
    : options_(std::move(options)), sink_(std::make_unique<Sink>(options_, stream)) {}
ServerLog::~ServerLog() = default;

bool ServerLog::writes_statement(double seconds) const noexcept {
  if (options_.statements == StatementLog::None || !writes(LogLevel::Info)) return false;
  return options_.statements == StatementLog::All ||
         seconds >= std::chrono::duration<double>(options_.slow_statement).count();
}

void ServerLog::write(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!writes(level)) return;
  try {
    sink_->write(level, log_line(options_.format, event, std::span(fields.begin(), fields.size())));
  } catch (const std::bad_alloc&) {  // the event continues without its line in the log
  }
}

}  // namespace eindb
