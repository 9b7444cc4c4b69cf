#include "cluster/worker_status.hpp"

namespace eindb {

std::string_view name_of(WorkerState state) {
  switch (state) {
    case WorkerState::Joining: return "joining";
    case WorkerState::Up: return "up";
    case WorkerState::Unwell: return "unwell";
    case WorkerState::Draining: return "draining";
    case WorkerState::Lost: break;
  }
  return "lost";
}

std::string_view name_of(StandbyState state) {
  switch (state) {
    case StandbyState::None: break;
    case StandbyState::Copying: return "copying";
    case StandbyState::Current: return "current";
    case StandbyState::Behind: return "behind";
  }
  return "";
}

}  // namespace eindb
