#pragma once

#include <string>

#include "shell/shell.hpp"

namespace eindb {

/// `eindb calibrate [FILE] [--seconds S]`.
struct CalibrateCommand {
  std::string file;    ///< empty: the default file of sessions
  double seconds = 5;  ///< approximate measuring time
};

/// Measures the machine, prints the figures and writes them. Ctrl-C ends it with Error{Cancelled}, without a file.
void run_calibration(const CalibrateCommand& command, Shell& shell);

}  // namespace eindb
