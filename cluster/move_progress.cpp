#include "cluster/move_progress.hpp"

#include <utility>

namespace eindb {

void MoveProgress::set(std::map<DataId, TilesToMove> leaving, std::map<DataId, std::int64_t> drained) {
  const std::lock_guard lock(mutex_);
  leaving_ = std::move(leaving);
  drained_ = std::move(drained);
}

void MoveProgress::count_moved(std::int64_t tiles, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  tiles_moved_ += tiles;
  bytes_moved_ += bytes;
}

void MoveProgress::set_unmendable(std::map<DataId, std::vector<std::string>> tiles) {
  const std::lock_guard lock(mutex_);
  unmendable_ = std::move(tiles);
}

std::vector<std::string> MoveProgress::unmendable(DataId worker) const {
  const std::lock_guard lock(mutex_);
  const auto found = unmendable_.find(worker);
  return found == unmendable_.end() ? std::vector<std::string>{} : found->second;
}

TilesToMove MoveProgress::leaving(DataId worker) const {
  const std::lock_guard lock(mutex_);
  const auto found = leaving_.find(worker);
  return found == leaving_.end() ? TilesToMove{} : found->second;
}

bool MoveProgress::is_drained(DataId worker, std::int64_t mark) const {
  const std::lock_guard lock(mutex_);
  const auto found = drained_.find(worker);
  return found != drained_.end() && found->second == mark;
}

std::int64_t MoveProgress::tiles_moved() const {
  const std::lock_guard lock(mutex_);
  return tiles_moved_;
}

std::int64_t MoveProgress::bytes_moved() const {
  const std::lock_guard lock(mutex_);
  return bytes_moved_;
}

}  // namespace eindb
