#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
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

/// For whom the statements of a session run: what they have set and prepared, what they may do, who is told of
/// progress, and what the settings give: threads, and figures of the machine. It knows no database.
/// Threads: one at a time.
class SessionUser {
 public:
  explicit SessionUser(const SessionOptions& options);

  /// The scheduler for the current number of threads.
  Scheduler& scheduler();
  /// This machine's figures: of the setting machine_file, else those that `eindb calibrate` left, else built-in ones.
  /// A file that changed is read again. Error as read_machine_file.
  const MachineFigures& machine() const;
  /// Another number whenever machine() has other figures.
  std::uint64_t machine_version() const;

  Settings settings;
  Permissions permissions;
  const std::shared_ptr<AdmissionGate> gate;  ///< null: nobody is asked
  ProgressCallback progress;
  NoticeCallback notices;
  std::map<std::string, PreparedStatement> prepared;  ///< by name in lower case

 private:
  // The file as it was read last.
  struct KnownMachine {
    std::string path;
    std::filesystem::file_time_type changed;
    MachineFigures figures;
    std::uint64_t version = 0;
  };

  std::unique_ptr<Scheduler> scheduler_;
  mutable KnownMachine machine_;
};

}  // namespace eindb
