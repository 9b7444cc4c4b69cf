#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/control_message.hpp"
#include "storage/shards/shard_access.hpp"

namespace eindb {

enum class WorkerState : std::uint8_t {
  Joining,   ///< never reached yet
  Up,        ///< runs statements
  Unwell,    ///< it is there, and its disk does not answer: left out until that does again
  Draining,  ///< finishes what runs and takes nothing new; contents can still be read
  Lost,      ///< cannot be reached, or is not the one that it was; tried again all the time
};
/// "joining", ...
std::string_view name_of(WorkerState state);

/// A worker as the coordinator knows it: a row of SHOW WORKERS.
struct WorkerStatus {
  std::string address;  ///< as in --workers
  WorkerState state = WorkerState::Joining;
  std::string reason;                  ///< why it is not up; of one that is, whom it does not exchange data with
  std::chrono::milliseconds since{0};  ///< it is in this state for so long
  // What it said when it joined last:
  DataId data{};        ///< 0: it never did
  std::string program;  ///< its version
  std::uint32_t threads = 0;
  std::int64_t memory_limit = 0;
  ShardEpoch epoch;  ///< of the database, as it was told last
  // And with its last heartbeat:
  WorkerLoad load;
  std::chrono::milliseconds heartbeat_age{0};

  /// Takes no new tiles: its disk has no room for any.
  bool is_full() const { return state == WorkerState::Up && load.bytes_free == 0; }
};

}  // namespace eindb
