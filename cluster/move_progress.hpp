#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "storage/shards/shard_numbers.hpp"
#include "storage/tiles/move_plan.hpp"

namespace eindb {

/// How far tiles have moved, for display. One per cluster. Thread-safe.
class MoveProgress {
 public:
  /// The tiles that have to leave workers now, and the workers that are not needed any more, with their marks
  /// (ShardLog::leaving).
  void set(std::map<DataId, TilesToMove> leaving, std::map<DataId, std::int64_t> drained);
  void count_moved(std::int64_t tiles, std::int64_t bytes);

  /// Names of the tiles whose copy at a worker is damaged while there is no other.
  void set_unmendable(std::map<DataId, std::vector<std::string>> tiles);
  std::vector<std::string> unmendable(DataId worker) const;

  TilesToMove leaving(DataId worker) const;
  /// Whether no tile is at the worker that leaves since this mark, nor can come there.
  bool is_drained(DataId worker, std::int64_t mark) const;
  /// Since the start; both only increase.
  std::int64_t tiles_moved() const;
  std::int64_t bytes_moved() const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::map<DataId, TilesToMove> leaving_;
  std::map<DataId, std::int64_t> drained_;
  std::map<DataId, std::vector<std::string>> unmendable_;
  std::int64_t tiles_moved_ = 0;
  std::int64_t bytes_moved_ = 0;
};

}  // namespace eindb
