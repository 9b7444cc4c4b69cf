#pragma once

#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {

/// Where `eindb calibrate` leaves its figures and sessions look for them: eindb/machine.json in $XDG_CONFIG_HOME, or in
/// .config in the home directory; empty if there is neither.
std::string default_machine_path();

/// Makes the directory that the file is to lie in. Error{Io}.
void make_directory_for(const std::string& path);
/// Error{Io} if the file cannot be read, Error{Corrupt} if it holds something else than figures; both say what to do.
MachineFigures read_machine_file(const std::string& path);
/// Replaces the file as a whole. Error{Io}.
void write_machine_file(const std::string& path, const MachineFigures& figures);

/// One row per figure: name, value, unit. First the file they came from and the number of threads.
std::vector<Row> machine_rows(const MachineFigures& figures);
std::vector<Column> machine_columns();

}  // namespace eindb
