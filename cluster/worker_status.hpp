#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/control_message.hpp"
#include "storage/shards/shard_access.hpp"
#include "storage/tiles/move_plan.hpp"

namespace eindb {

enum class WorkerState : std::uint8_t {
  Joining,   ///< never reached so far
  Up,        ///< runs statements
  Unwell,    ///< reachable, but its disk does not answer; left out until it does
  Draining,  ///< finishes running statements and takes no new ones; contents can still be read
  Lost,      ///< unreachable, or not the same worker as before; the coordinator keeps trying
};
/// "joining", ...
std::string_view name_of(WorkerState state);

/// The copy of the coordinator's file at a worker.
enum class StandbyState : std::uint8_t {
  None,     ///< the worker is no standby
  Copying,  ///< the file has not been copied since the coordinator began, or is copied anew
  Current,  ///< every transaction that was committed is there
  Behind,   ///< transactions were committed that are not there
};
/// "", "copying", ...
std::string_view name_of(StandbyState state);

/// The coordinator's view of a worker: a row of SHOW WORKERS.
struct WorkerStatus {
  std::string address;  ///< as in --workers
  WorkerState state = WorkerState::Joining;
  std::string reason;  ///< why it is not up or, if it is up, the nodes that it does not exchange data with
  std::chrono::milliseconds since{0};  ///< time in this state
  // As stated when it last joined:
  DataId data{};        ///< 0: it has never joined
  std::string program;  ///< its program's version
  std::uint32_t threads = 0;
  std::int64_t memory_limit = 0;
  ShardEpoch epoch;  ///< of the database, as last told to the worker
  // As stated in its last heartbeat:
  WorkerLoad load;
  std::chrono::milliseconds heartbeat_age{0};
  TilesToMove to_move;                    ///< its tiles that are to be at other workers, if it leaves or is missed
  std::vector<std::string> damaged = {};  ///< names of its tiles that are damaged, and of which no other copy is intact
  StandbyState standby = StandbyState::None;
  std::string standby_failure = {};  ///< why it is behind

  /// A full worker takes no new tiles, since its disk has no room for them.
  bool is_full() const { return state == WorkerState::Up && load.bytes_free == 0; }
};

}  // namespace eindb
