#include "cluster/damaged_copies.hpp"

#include "common/check.hpp"

namespace eindb {

bool DamagedCopies::note(DataId worker, ContentId content) {
  const std::lock_guard lock(mutex_);
  const bool is_new = copies_.emplace(worker, content).second;
  if (is_new) {
    ++noticed_;
    ++changes_;
  }
  return is_new;
}

bool DamagedCopies::note_unread(DataId worker, ContentId content) {
  const bool is_new = note(worker, content);
  const std::lock_guard lock(mutex_);
  if (copies_.contains({worker, content})) unread_.emplace(worker, content);
  return is_new;
}

std::vector<std::pair<DataId, ContentId>> DamagedCopies::unread() const {
  const std::lock_guard lock(mutex_);
  return {unread_.begin(), unread_.end()};
}

void DamagedCopies::forget(DataId worker, ContentId content) {
  const std::lock_guard lock(mutex_);
  unread_.erase({worker, content});
  if (copies_.erase({worker, content}) > 0) ++changes_;
  DCHECK(is_valid(), "copies are forgotten that were noticed");
}

void DamagedCopies::note_repair(DataId worker, ContentId content) {
  const std::lock_guard lock(mutex_);
  ++repaired_;
  unread_.erase({worker, content});
  if (copies_.erase({worker, content}) > 0) ++changes_;
  DCHECK(is_valid(), "no more copies are damaged than were noticed");
}

void DamagedCopies::forget(DataId worker) {
  const std::lock_guard lock(mutex_);
  const auto is_its = [&](const auto& copy) { return copy.first == worker; };
  std::erase_if(unread_, is_its);
  if (std::erase_if(copies_, is_its) > 0) ++changes_;
  DCHECK(is_valid(), "copies are forgotten that were noticed");
}

// With the mutex.
bool DamagedCopies::is_valid() const { return std::cmp_less_equal(copies_.size(), noticed_) && noticed_ <= changes_; }

bool DamagedCopies::contains(DataId worker, ContentId content) const {
  const std::lock_guard lock(mutex_);
  return copies_.contains({worker, content});
}

std::int64_t DamagedCopies::noticed() const {
  const std::lock_guard lock(mutex_);
  return noticed_;
}

std::int64_t DamagedCopies::repaired() const {
  const std::lock_guard lock(mutex_);
  return repaired_;
}

std::int64_t DamagedCopies::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

}  // namespace eindb
