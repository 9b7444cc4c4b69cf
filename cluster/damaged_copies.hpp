#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "storage/shards/shard_numbers.hpp"

namespace eindb {

/// The copies of tiles that are known to be damaged or missing at their workers. Plans avoid them. One per cluster.
/// Thread-safe.
class DamagedCopies {
 public:
  /// Records a damaged copy; false if it was known.
  bool note(DataId worker, ContentId content);
  /// The same of a copy that its worker has found damaged, which nobody has read; see unread().
  bool note_unread(DataId worker, ContentId content);
  /// Copies from note_unread() that are still damaged: no statement mends them.
  std::vector<std::pair<DataId, ContentId>> unread() const;
  /// Discards the record of a copy to which nothing refers.
  void forget(DataId worker, ContentId content);
  /// Records that the copy was rewritten.
  void note_repair(DataId worker, ContentId content);
  /// Discards the records of a worker that has joined again, as its disk may have been repaired.
  void forget(DataId worker);
  bool contains(DataId worker, ContentId content) const;

  /// Counts since the start; both only increase.
  std::int64_t noticed() const;
  std::int64_t repaired() const;
  /// Changes whenever a result of contains() may change.
  std::int64_t changes() const;

 private:
  bool is_valid() const;

  mutable std::mutex mutex_;  // guards what follows
  std::set<std::pair<DataId, ContentId>> copies_;
  std::set<std::pair<DataId, ContentId>> unread_;  // among copies_
  std::int64_t noticed_ = 0;
  std::int64_t repaired_ = 0;
  std::int64_t changes_ = 0;
};

}  // namespace eindb
