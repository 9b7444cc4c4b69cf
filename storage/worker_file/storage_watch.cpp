#include "storage/worker_file/storage_watch.hpp"

#include <algorithm>
#include <utility>

namespace eindb {

StorageWatch::Operation::Operation(StorageWatch& watch) : watch_(watch) {
  std::function<void()> intercept;
  {
    const std::lock_guard lock(watch_.mutex_);
    place_ = watch_.progress_.insert(watch_.progress_.end(), Clock::now());
    intercept = watch_.intercept_;
  }
  if (intercept) intercept();
}

StorageWatch::Operation::~Operation() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.progress_.erase(place_);
}

void StorageWatch::Operation::note_progress() noexcept {
  const std::lock_guard lock(watch_.mutex_);
  *place_ = Clock::now();
}

std::chrono::milliseconds StorageWatch::silence() const {
  const std::lock_guard lock(mutex_);
  const auto oldest = std::min_element(progress_.begin(), progress_.end());
  if (oldest == progress_.end()) return {};
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - *oldest);
}

void StorageWatch::intercept(std::function<void()> intercept) {
  const std::lock_guard lock(mutex_);
  intercept_ = std::move(intercept);
}

}  // namespace eindb
