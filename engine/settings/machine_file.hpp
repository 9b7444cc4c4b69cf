#pragma once

#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {

/// The default file of the machine's figures, which `eindb calibrate` writes: eindb/machine.json in $XDG_CONFIG_HOME,
/// or in .config of the home directory; empty if neither exists.
std::string default_machine_path();

/// Creates the directory for the file. Error{Io}.
void make_directory_for(const std::string& path);
/// Error{Io} if the file cannot be read, Error{Corrupt} if its content is not a set of figures; both suggest a remedy.
MachineFigures read_machine_file(const std::string& path);
/// Replaces the file as a whole. Error{Io}.
void write_machine_file(const std::string& path, const MachineFigures& figures);

/// One row per figure: name, value, unit. The first rows are the source of the figures and the number of threads.
std::vector<Row> machine_rows(const MachineFigures& figures);
std::vector<Column> machine_columns();

}  // namespace eindb
