#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/session.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/rows/interim_output.hpp"

namespace eindb {

/// Writes a NoticeResponse, of severity "WARNING", "NOTICE" or "INFO".
void write_notice(MessageWriter& out, std::string_view severity, std::string_view text,
                  std::string_view sqlstate = "00000");

/// Describes the progress of work and, once it can be estimated, the remaining time. Not thread-safe.
///
///     join: 30 %, about 12 s left
///
/// The estimate assumes that the work continues at the average speed since its stage began.
class ProgressText {
 public:
  using Clock = std::chrono::steady_clock;

  std::string describe(const Progress& progress, Clock::time_point now);

 private:
  std::optional<double> share_;  // share of the work at the last call
  double begin_share_ = 0;
  Clock::time_point begin_;  // time at which the share was begin_share_
};

/// While it lives, notices of a session's statements are sent to the client, each as a NoticeResponse. They are sent at
/// once if the client reads, otherwise with the next output.
class StatementNotices {
 public:
  /// `interim` may be null; all arguments must outlive the object. `out` must hold whole messages whenever a statement
  /// runs.
  StatementNotices(Session& session, InterimOutput* interim, MessageWriter& out);
  ~StatementNotices() { session_.on_notice(nullptr); }
  StatementNotices(const StatementNotices&) = delete;
  StatementNotices& operator=(const StatementNotices&) = delete;

 private:
  Session& session_;
};

/// While it lives, progress of a session's statements is sent to the client: a NoticeResponse twice a second, beginning
/// after half a second, together with earlier output. A client that does not read misses some notices.
class ProgressNotices {
 public:
  /// All arguments must outlive the object. `out` must hold whole messages whenever a statement runs.
  ProgressNotices(Session& session, InterimOutput& interim, MessageWriter& out);
  ~ProgressNotices() { session_.on_progress(nullptr); }
  ProgressNotices(const ProgressNotices&) = delete;
  ProgressNotices& operator=(const ProgressNotices&) = delete;

 private:
  void tell(const Progress& progress);

  Session& session_;
  InterimOutput& interim_;
  MessageWriter& out_;
  ProgressText text_;
  ProgressText::Clock::time_point next_;
};

}  // namespace eindb
