#include "shell/calibrate_command.hpp"

#include "shell/interrupts.hpp"
#include "shell/progress_bar.hpp"

namespace eindb {

void run_calibration(const CalibrateCommand& command, Shell& shell) {
  auto& session = shell.session();
  shell.settings().max_rows = 0;  // the table should be printed completely
  ProgressBar bar;
  session.on_progress([&](const Progress& progress) { bar.update(progress); });
  auto result = [&] {
    const Interrupts::Scope scope(session);
    return session.calibrate(command.file, command.seconds);
  }();
  session.on_progress({});
  bar.finish();
  shell.print(result, false);
}

}  // namespace eindb
