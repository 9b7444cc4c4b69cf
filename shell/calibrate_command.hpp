#pragma once

#include <string>

#include "shell/shell.hpp"

namespace eindb {

/// `eindb calibrate [FILE] [--seconds S]`.
struct CalibrateCommand {
  std::string file;    ///< empty: where sessions look for it
  double seconds = 5;  ///< about how long to measure
};

/// Measures the machine, prints the figures and writes them; Ctrl-C ends it with Error{Cancelled} and no file.
void run_calibration(const CalibrateCommand& command, Shell& shell);

}  // namespace eindb
