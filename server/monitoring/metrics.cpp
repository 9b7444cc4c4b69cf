#include "server/monitoring/metrics.hpp"

#include <algorithm>

namespace eindb {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr std::string_view kClassCharacters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

}  // namespace

void DurationHistogram::add(double seconds) noexcept {
  const auto* const bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  counts_[static_cast<std::size_t>(bucket - kBounds.begin())].add();
  nanoseconds_.add(static_cast<std::int64_t>(seconds * kNanosecondsPerSecond));
}

double DurationHistogram::sum() const { return static_cast<double>(nanoseconds_.value()) / kNanosecondsPerSecond; }

void ErrorCounters::add(std::string_view sqlstate) noexcept {
  if (sqlstate.size() < 2) return;
  const auto first = kClassCharacters.find(sqlstate[0]);
  const auto second = kClassCharacters.find(sqlstate[1]);
  if (first == std::string_view::npos || second == std::string_view::npos) return;
  counts_[first * kCharacters + second].add();
}

std::vector<ErrorCounters::Entry> ErrorCounters::entries() const {
  std::vector<Entry> entries;
  for (std::size_t n = 0; n < counts_.size(); ++n)
    if (const auto count = counts_[n].value(); count > 0)
      entries.push_back({{kClassCharacters[n / kCharacters], kClassCharacters[n % kCharacters]}, count});
  return entries;
}

}  // namespace eindb
