#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "engine/session.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/rows/interim_output.hpp"

namespace eindb {

/// Says how far work is and, as soon as it can be guessed, how long it will take. Not thread-safe.
///
///     join: 30 %, about 12 s left
///
/// The guess takes it that the work goes on as fast as since its stage began.
class ProgressText {
 public:
  using Clock = std::chrono::steady_clock;

  std::string describe(const Progress& progress, Clock::time_point now);

 private:
  std::optional<double> share_;  // of the work, when it was described last
  double begin_share_ = 0;
  Clock::time_point begin_;  // when the share was begin_share_
};

/// While it lives, what a session's statements have to say beside their results goes to their client: a NoticeResponse
/// each, at once where the client reads, else with what is written next.
class StatementNotices {
 public:
  /// `interim` may be null; all outlive the notices. `out` holds whole messages whenever a statement runs.
  StatementNotices(Session& session, InterimOutput* interim, MessageWriter& out);
  ~StatementNotices() { session_.on_notice(nullptr); }
  StatementNotices(const StatementNotices&) = delete;
  StatementNotices& operator=(const StatementNotices&) = delete;

 private:
  Session& session_;
};

/// While it lives, a session's statements tell their client how far they are: a NoticeResponse twice a second from the
/// first half second on, with all that was written before. A client that does not read misses some.
class ProgressNotices {
 public:
  /// All three outlive the notices. `out` holds whole messages whenever a statement runs.
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
