#include "shell/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace eindb {
namespace {

constexpr std::chrono::milliseconds kDelay{2000};
constexpr std::chrono::milliseconds kInterval{100};
constexpr int kWidth = 30;

std::string draw(const Progress& progress) {
  std::string out = "\r\x1B[K" + std::string(progress.stage);
  if (progress.total <= 0) return out + " " + std::to_string(progress.done);
  const double share = std::clamp(static_cast<double>(progress.done) / static_cast<double>(progress.total), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(share * kWidth);
  out += " [" + std::string(filled, '#') + std::string(kWidth - filled, ' ') + "] ";
  return out + std::to_string(static_cast<int>(share * 100)) + "%";
}

}  // namespace

ProgressBar::ProgressBar() : enabled_(isatty(STDERR_FILENO) != 0) {}

void ProgressBar::start() { next_ = Clock::now() + kDelay; }

void ProgressBar::update(const Progress& progress) {
  if (!enabled_ || Clock::now() < next_) return;
  next_ = Clock::now() + kInterval;
  shown_ = true;
  std::fputs(draw(progress).c_str(), stderr);
}

void ProgressBar::finish() {
  if (shown_) std::fputs("\r\x1B[K", stderr);
  shown_ = false;
}

}  // namespace eindb
