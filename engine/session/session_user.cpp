#include "engine/session/session_user.hpp"

#include <system_error>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/settings/machine_file.hpp"

namespace eindb {

SessionUser::SessionUser(const SessionOptions& options)
    : settings(initial_settings(options)), permissions(options.policy), gate(options.gate) {}

const MachineFigures& SessionUser::machine() const {
  const bool given = !settings.machine_file().empty();
  const auto path = given ? settings.machine_file() : default_machine_path();
  std::error_code absent;
  const auto changed = std::filesystem::last_write_time(path, absent);
  const auto next = machine_.version + 1;
  if (absent && !given) {
    if (machine_.version == 0 || !machine_.path.empty()) machine_ = {{}, {}, built_in_figures(), next};
  } else if (absent || machine_.path != path || machine_.changed != changed) {
    machine_.path = path;
    machine_.changed = {};  // a file that fails is read again the next time
    try {
      auto figures = read_machine_file(path);
      machine_ = {path, changed, std::move(figures), next};
    } catch (const Error&) {
      // Without an explicit request for the figures, a damaged file does not stop work; SHOW machine tells which
      // figures apply.
      if (given || settings.calibrated_is_set()) throw;
      machine_ = {path, {}, built_in_figures(), next};
    }
  }
  CHECK(machine_.version > 0, "figures that are given out have a version");
  return machine_.figures;
}

std::uint64_t SessionUser::machine_version() const {
  machine();
  return machine_.version;
}

Scheduler& SessionUser::scheduler() {
  CHECK(settings.threads() > 0, "something works on tiles");
  if (scheduler_ == nullptr || scheduler_->threads() != settings.threads())
    scheduler_ = std::make_unique<Scheduler>(settings.threads());
  return *scheduler_;
}

}  // namespace eindb
