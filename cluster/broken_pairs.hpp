#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "storage/shards/shard_numbers.hpp"

namespace eindb {

/// Two workers between which no data goes, by their data directories; DataId{} in place of the coordinator.
struct BrokenPair {
  DataId one{};
  DataId other{};
  std::string reason;
};

/// The coordinator's record of pairs of nodes that cannot exchange data, though it reaches both. A pair is broken when
/// a probe fails, and until one succeeds; and for kHold when statements have waited twice for bytes that did not come,
/// whatever probes say, as where something in between passes on little of what it takes. Thread-safe.
class BrokenPairs {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kHold{60};

  /// A statement has failed, as nothing came through an open connection. Whether the pair is broken now, and was not
  /// before.
  bool note_failure(DataId one, DataId other, const std::string& reason, Clock::time_point now = Clock::now());
  /// Whether that makes a difference.
  bool note_probe(DataId one, DataId other, const std::optional<Error>& error, Clock::time_point now = Clock::now());
  /// It has joined anew: nothing is known of it.
  void forget(DataId worker);
  std::vector<BrokenPair> all() const;

 private:
  using Key = std::pair<DataId, DataId>;
  struct State {
    bool is_broken = false;
    std::string reason;
    std::optional<Clock::time_point> failed;  // a statement, last
    Clock::time_point held_until;             // whatever probes say
  };
  static Key key_of(DataId one, DataId other) { return one < other ? Key{one, other} : Key{other, one}; }

  mutable std::mutex mutex_;  // guards what follows
  std::map<Key, State> pairs_;
};

/// Whom to leave out of `count` workers so that no two of the others are one of the pairs, which are of numbers below
/// it: each way that leaves out nobody without need, the fewest first. A few ways where there are many.
std::vector<std::vector<std::size_t>> ways_without_pairs(std::size_t count,
                                                         const std::vector<std::pair<std::size_t, std::size_t>>& pairs);

}  // namespace eindb
