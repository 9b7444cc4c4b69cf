#include "cluster/scrubber.hpp"

#include <exception>
#include <optional>
#include <string>

namespace eindb {
namespace {

// From the end of a pass over all contents to the beginning of the next.
constexpr std::chrono::hours kPauseOfScrubber{1};
constexpr std::chrono::seconds kPauseForDisk{1};

}  // namespace

Scrubber::Scrubber(WorkerNode& node) : node_(node) {
  if (node.options.scrub_rate > 0) thread_ = std::thread([this] { run(); });
}

Scrubber::~Scrubber() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    wakes_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

bool Scrubber::pause(Clock::duration time) {
  std::unique_lock lock(mutex_);
  return wakes_.wait_for(lock, time, [this] { return ends_; });
}

void Scrubber::run() noexcept {
  do {
    try {
      verify_all();
    } catch (const std::exception& error) {
      node_.log.write(NodeLog::Level::Warning, "contents not verified", "", error.what());
    }
  } while (!pause(kPauseOfScrubber));
}

void Scrubber::verify_all() {
  std::optional<ContentId> last;
  auto due = Clock::now();
  while (true) {
    if (pause(due - Clock::now())) return;
    if (node_.disk_silence().count() > 0) {
      due = Clock::now() + kPauseForDisk;
      continue;
    }
    const auto next = node_.shards.next_content(last);
    if (!next) return;
    last = next->content;
    const auto seconds = static_cast<double>(next->bytes) / static_cast<double>(node_.options.scrub_rate);
    due = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    // One that is being rewritten may be read again.
    if (node_.shards.is_intact(*last) || node_.shards.is_intact(*last)) continue;
    node_.log.write(NodeLog::Level::Warning, "content damaged", "",
                    "content " + std::to_string(number(*last)) + " has another checksum than it was written with");
    node_.note_damaged(*last);
  }
}

}  // namespace eindb
