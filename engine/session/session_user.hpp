#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/results/progress.hpp"
#include "engine/session/prepared_statement.hpp"
#include "engine/session/session_options.hpp"
#include "engine/settings/admission.hpp"
#include "engine/settings/permissions.hpp"
#include "engine/settings/settings.hpp"
#include "executor/scheduler.hpp"
#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {

/// The user of a session: settings, prepared statements, permissions and callbacks for progress, and the resources that
/// the settings determine: threads and the machine's figures. It knows no database. Used by one thread at a time.
class SessionUser {
 public:
  explicit SessionUser(const SessionOptions& options);

  /// The scheduler for the current number of threads.
  Scheduler& scheduler();
  /// This machine's figures: from the setting machine_file, else from `eindb calibrate`, else built in. A changed file
  /// is read again. Throws the same errors as read_machine_file.
  const MachineFigures& machine() const;
  /// Changes whenever machine() returns other figures.
  std::uint64_t machine_version() const;
  /// The memory limit in bytes, or this session's part of it if sessions share their memory.
  std::int64_t memory() const;

  Settings settings;
  Permissions permissions;
  const std::shared_ptr<AdmissionGate> gate;  ///< null: no admission needed
  ProgressCallback progress;
  NoticeCallback notices;
  std::map<std::string, PreparedStatement> prepared;  ///< by name in lower case

 private:
  // The machine file as last read.
  struct KnownMachine {
    std::string path;
    std::optional<std::int64_t> changed;
    MachineFigures figures;
    std::uint64_t version = 0;
    std::string setting;                                // when it was looked at last
    std::chrono::steady_clock::time_point looks_again;  // no sooner, while the setting is the same
  };

  std::unique_ptr<Scheduler> scheduler_;
  mutable KnownMachine machine_;
};

}  // namespace eindb
