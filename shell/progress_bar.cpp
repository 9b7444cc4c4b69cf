#include "shell/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace eindb {
namespace {

constexpr std::chrono::milliseconds kDelay{2000};
constexpr std::chrono::milliseconds kInterval{100};
constexpr int kWidth = 30;

/// "12 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(std::chrono::duration<double> duration) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  const auto seconds = static_cast<std::int64_t>(std::ceil(std::min(duration.count(), 1e9)));
  const auto two = [&](std::int64_t unit, const char* name, std::int64_t part, const char* part_name) {
    return std::to_string(seconds / unit) + name + std::to_string(seconds % unit / part) + part_name;
  };
  if (seconds < kMinute) return std::to_string(seconds) + " s";
  return seconds < kHour ? two(kMinute, " min ", 1, " s") : two(kHour, " h ", kMinute, " min");
}

}  // namespace

ProgressBar::ProgressBar() : enabled_(isatty(STDERR_FILENO) != 0) {}

std::string ProgressBar::line(const Progress& progress, std::chrono::duration<double> elapsed) {
  auto out = std::string(progress.stage);
  if (progress.total <= 0) return out + " " + std::to_string(progress.done);
  const double share = std::clamp(static_cast<double>(progress.done) / static_cast<double>(progress.total), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(share * kWidth);
  out += " [" + std::string(filled, '#') + std::string(kWidth - filled, ' ') + "] ";
  out += std::to_string(static_cast<int>(share * 100)) + "%";
  if (share > 0 && share < 1) out += ", " + duration_text(elapsed * ((1 - share) / share)) + " left";
  return out;
}

void ProgressBar::start() {
  begin_ = Clock::now();
  next_ = begin_ + kDelay;
  last_ = {};
}

void ProgressBar::update(const Progress& progress) {
  if (!enabled_) return;
  const auto now = Clock::now();
  // The operators of a plan share one count; what counts anew is something else.
  if (progress.done < last_.done || (last_.total != 0 && progress.total != last_.total)) begin_ = now;
  last_ = {.stage = {}, .done = progress.done, .total = progress.total};
  if (now < next_) return;
  next_ = now + kInterval;
  shown_ = true;
  std::fputs(("\r\x1B[K" + line(progress, now - begin_)).c_str(), stderr);
}

void ProgressBar::finish() {
  if (shown_) std::fputs("\r\x1B[K", stderr);
  shown_ = false;
}

}  // namespace eindb
