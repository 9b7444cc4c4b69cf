#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// The text that --version prints: the version in a line of its own, then the commit that the program was built from,
/// if that is known, its compiler, SQLite, the levels of kernels that this processor has, and the threads that sessions
/// begin with.
std::string build_facts();

/// The commit that this was built from, or nothing: cmake/commit.cmake writes its source.
std::string_view build_commit();

}  // namespace eindb
