#include "tests/simulation/nemesis.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace eindb::simulation {
namespace {

// A time between the two, with all orders of magnitude equally likely.
Time any_time(Time shortest, Time longest) {
  auto time = shortest;
  while (2 * time < longest && !draw_once_in(8)) time *= 2;
  return time + static_cast<Time>(draw_below(static_cast<std::uint64_t>(time)));
}

}  // namespace

Nemesis::Nemesis(SimulatedCluster& cluster)
    : cluster_(cluster), longest_pause_(any_time(kSecond, 20 * kSecond)), thread_([this] { run(); }) {}

void Nemesis::note_statement() {
  has_statement_ = true;
  cancelled_ = kNever;
  wake_all(this);
}

void Nemesis::run() {
  set_own_host(nullptr);
  while (!ends_) {
    pause();
    if (ends_) break;
    start_due_workers();
    if (!rests_) harm();
  }
}

// Waits for some time, or for some time within the next statement.
void Nemesis::pause() {
  Time due = now() + any_time(20 * kMillisecond, longest_pause_);
  if (draw_once_in(2)) {
    has_statement_ = false;
    while (!has_statement_ && !ends_ && now() < due) wait(this, due, "waits for a statement to disturb");
    due = now() + any_time(50 * kMicrosecond, 50 * kMillisecond);
  }
  for (const auto& [worker, time] : down_) due = std::min(due, std::max(time, now()));
  wait(&down_, due, "waits for a time to harm");
}

void Nemesis::harm() {
  ++faults_;
  switch (draw_below(12)) {
    case 0: return cluster_.crash_coordinator(draw_once_in(2));
    case 1:
    case 2:
    case 3:
    case 4: return harm_worker();
    case 5:
      cluster_.log().write(NodeLog::Level::Info, "cancel", "", "");
      cluster_.cancel();
      cancelled_ = now();
      return;
    default: return harm_link();
  }
}

void Nemesis::harm_worker() {
  const auto n = static_cast<std::size_t>(draw_below(cluster_.workers()));
  if (!cluster_.has_worker(n)) return;
  down_[n] = now() + any_time(10 * kMillisecond, 20 * kSecond);
  cluster_.crash_worker(n, draw_once_in(2));
}

void Nemesis::start_due_workers() {
  for (auto place = down_.begin(); place != down_.end();) {
    if (place->second > now()) {
      ++place;
      continue;
    }
    cluster_.start_worker(place->first);
    place = down_.erase(place);
  }
}

void Nemesis::harm_link() {
  const auto places = cluster_.workers() + 1;
  const auto one = static_cast<int>(draw_below(places));
  const auto other = static_cast<int>((static_cast<std::uint64_t>(one) + 1 + draw_below(places - 1)) % places);
  const auto before = link(one, other);
  auto harmed = before;
  switch (draw_below(3)) {
    case 0: harmed.is_cut = true; break;
    case 1: harmed.delay = any_time(10 * kMillisecond, kSecond); break;
    default: harmed.loses_once_in = 2 + draw_below(10); break;
  }
  const bool is_one_way = draw_once_in(3);
  const auto put = [=](const Link& way) {
    link(one, other) = way;
    if (!is_one_way) link(other, one) = way;
  };
  const auto time = any_time(10 * kMillisecond, 30 * kSecond);
  cluster_.log().write(NodeLog::Level::Info,
                       harmed.is_cut              ? "cut"
                       : harmed.loses_once_in > 0 ? "loses"
                                                  : "slow",
                       std::to_string(one) + (is_one_way ? " to " : " and ") + std::to_string(other),
                       std::to_string(time / kMillisecond) + " ms");
  put(harmed);
  at(now() + time, [=] { put(Link{}); });
}

void Nemesis::mend_links() {
  const auto places = static_cast<int>(cluster_.workers()) + 1;
  for (int one = 0; one < places; ++one)
    for (int other = 0; other < places; ++other) link(one, other) = {};
}

void Nemesis::rest() {
  rests_ = true;
  mend_links();
  for (auto& [worker, time] : down_) time = now();
  wake_all(&down_);
  wake_all(this);
}

void Nemesis::end() {
  if (std::exchange(ends_, true)) return;
  wake_all(this);
  wake_all(&down_);
  thread_.join();
  mend_links();
  for (const auto& [worker, time] : std::exchange(down_, {})) cluster_.start_worker(worker);
  cluster_.log().write(NodeLog::Level::Info, "all is mended", "", "");
}

}  // namespace eindb::simulation
