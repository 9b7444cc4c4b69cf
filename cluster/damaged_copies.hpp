#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

#include "storage/shards/shard_numbers.hpp"

namespace eindb {

/// The copies of tiles that were found damaged or missing at their workers, for as long as that is so: statements are
/// planned without them. One for a cluster. Thread-safe.
class DamagedCopies {
 public:
  /// False if it was known.
  bool note(DataId worker, ContentId content);
  /// It was written anew.
  void note_repair(DataId worker, ContentId content);
  /// The worker has joined anew: whatever was wrong with its disk may be right again.
  void forget(DataId worker);
  bool contains(DataId worker, ContentId content) const;

  /// Since the beginning; both only go up.
  std::int64_t noticed() const;
  std::int64_t repaired() const;
  /// Another number whenever contains() may say something else.
  std::int64_t changes() const;

 private:
  bool is_valid() const;

  mutable std::mutex mutex_;  // guards what follows
  std::set<std::pair<DataId, ContentId>> copies_;
  std::int64_t noticed_ = 0;
  std::int64_t repaired_ = 0;
  std::int64_t changes_ = 0;
};

}  // namespace eindb
