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

/// Two workers that exchange no data, identified by their data directories. DataId{} stands for the coordinator.
struct BrokenPair {
  DataId one{};
  DataId other{};
  std::string reason;
};

/// The coordinator's record of pairs of nodes that cannot exchange data, though it reaches both. A pair is broken from
/// a failed probe until a successful one. It is also broken for kHold after statements have waited twice for bytes in
/// vain, whatever probes say: something between the nodes may pass on only part of the data. Thread-safe.
class BrokenPairs {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kHold{60};

  /// Records that a statement failed because nothing arrived over an open connection. Returns whether the pair has
  /// become broken by this.
  bool note_failure(DataId one, DataId other, const std::string& reason, Clock::time_point now = Clock::now());
  /// Records the result of a probe. Returns whether the pair's state has changed by this.
  bool note_probe(DataId one, DataId other, const std::optional<Error>& error, Clock::time_point now = Clock::now());
  /// Call when the worker joins again: discards everything known of it.
  void forget(DataId worker);
  std::vector<BrokenPair> all() const;

 private:
  using Key = std::pair<DataId, DataId>;
  struct State {
    bool is_broken = false;
    std::string reason;
    std::optional<Clock::time_point> failed;  // last failure of a statement
    Clock::time_point held_until;             // until then probes are ignored
  };
  static Key key_of(DataId one, DataId other) { return one < other ? Key{one, other} : Key{other, one}; }

  mutable std::mutex mutex_;  // guards the members below
  std::map<Key, State> pairs_;
};

/// The workers to leave out of `count` so that no two remaining workers form one of the pairs, which have numbers below
/// `count`. Returns the minimal choices, the smallest first; only some of them if there are many.
std::vector<std::vector<std::size_t>> ways_without_pairs(std::size_t count,
                                                         const std::vector<std::pair<std::size_t, std::size_t>>& pairs);

}  // namespace eindb
