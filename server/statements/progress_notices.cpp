#include "server/statements/progress_notices.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"
#include "engine/statement_text.hpp"

namespace eindb {
namespace {

using Clock = ProgressText::Clock;

constexpr std::chrono::milliseconds kInterval{500};
// Below this share the remaining time is not estimated.
constexpr double kLeastShare = 0.02;
constexpr double kMinute = 60;

std::string time_text(double seconds) {
  const auto rounded = std::ceil(seconds);
  if (rounded < 2 * kMinute) return std::to_string(static_cast<int>(rounded)) + " s";
  constexpr double kMost = 1e6;  // minutes; longer estimates are not shown
  return std::to_string(static_cast<int>(std::min(std::round(seconds / kMinute), kMost))) + " min";
}

}  // namespace

std::string ProgressText::describe(const Progress& progress, Clock::time_point now) {
  const std::string stage(progress.stage);
  if (progress.total <= 0) return stage + ": " + std::to_string(progress.done);
  const auto share = std::clamp(static_cast<double>(progress.done) / static_cast<double>(progress.total), 0.0, 1.0);
  if (!share_ || share < *share_) {
    begin_share_ = share;
    begin_ = now;
  }
  share_ = share;
  CHECK(begin_share_ <= share, "the work of a stage goes on from where it began");
  auto text = stage + ": " + std::to_string(static_cast<int>(share * 100)) + " %";
  if (share - begin_share_ < kLeastShare) return text;
  const auto seconds = std::chrono::duration<double>(now - begin_).count();
  return text + ", about " + time_text(seconds * (1 - share) / (share - begin_share_)) + " left";
}

void write_notice(MessageWriter& out, std::string_view severity, std::string_view text, std::string_view sqlstate) {
  out.begin('N')
      .bytes("S")
      .text(severity)
      .bytes("V")
      .text(severity)
      .bytes("C")
      .text(sqlstate)
      .bytes("M")
      .text(replace_invalid_utf8(text))
      .text("");
  out.end();
}

StatementNotices::StatementNotices(Session& session, InterimOutput* interim, MessageWriter& out) : session_(session) {
  session.on_notice([interim, &out](const std::string& notice) {
    write_notice(out, "NOTICE", notice);
    if (interim != nullptr && interim->is_ready()) interim->send(out);
  });
}

ProgressNotices::ProgressNotices(Session& session, InterimOutput& interim, MessageWriter& out)
    : session_(session), interim_(interim), out_(out), next_(Clock::now() + kInterval) {
  session.on_progress([this](const Progress& progress) { tell(progress); });
}

void ProgressNotices::tell(const Progress& progress) {
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  const auto text = text_.describe(progress, now);
  if (!interim_.is_ready()) return;
  // A client shows severity INFO whatever client_min_messages says, and it has asked for these notices.
  write_notice(out_, "INFO", text);
  interim_.send(out_);
}

}  // namespace eindb
