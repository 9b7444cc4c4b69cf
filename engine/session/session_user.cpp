#include "engine/session/session_user.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/settings/machine_file.hpp"

namespace eindb {
namespace {

// A look at the file takes a tenth of a small statement.
constexpr std::chrono::milliseconds kBetweenLooks{5};

// When a file was last written, in nanoseconds; nullopt if it is not there.
std::optional<std::int64_t> time_of_change(const std::string& path) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return found.st_mtim.tv_sec * kSecond + found.st_mtim.tv_nsec;
}

}  // namespace

SessionUser::SessionUser(const SessionOptions& options)
    : settings(initial_settings(options)), permissions(options.policy), gate(options.gate) {}

std::int64_t SessionUser::memory() const {
  const auto* policy = permissions.policy();
  const auto limit = settings.memory_limit();
  return policy == nullptr ? limit : std::min(limit, policy->memory_share);
}

const MachineFigures& SessionUser::machine() const {
  const auto now = std::chrono::steady_clock::now();
  const bool given = !settings.machine_file().empty();
  if (machine_.version > 0 && now < machine_.looks_again && machine_.setting == settings.machine_file())
    return machine_.figures;
  const auto path = given ? settings.machine_file() : default_machine_path();
  const auto changed = time_of_change(path);
  const auto next = machine_.version + 1;
  if (!changed && !given) {
    if (machine_.version == 0 || !machine_.path.empty())
      machine_ = {
          .path = {}, .changed = {}, .figures = built_in_figures(), .version = next, .setting = {}, .looks_again = {}};
  } else if (!changed || machine_.path != path || machine_.changed != changed) {
    machine_.path = path;
    machine_.changed = std::nullopt;  // a file that fails is read again the next time
    try {
      auto figures = read_machine_file(path);
      machine_ = {.path = path,
                  .changed = changed,
                  .figures = std::move(figures),
                  .version = next,
                  .setting = {},
                  .looks_again = {}};
    } catch (const Error&) {
      // Without an explicit request for the figures, a damaged file does not stop work; SHOW machine tells which
      // figures apply.
      if (given || settings.calibrated_is_set()) throw;
      machine_ = {.path = path,
                  .changed = {},
                  .figures = built_in_figures(),
                  .version = next,
                  .setting = {},
                  .looks_again = {}};
      return machine_.figures;
    }
  }
  machine_.setting = settings.machine_file();
  machine_.looks_again = now + kBetweenLooks;
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
