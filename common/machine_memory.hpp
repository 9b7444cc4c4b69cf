#pragma once

#include <cstdint>
#include <string>

namespace eindb {

/// Bytes of memory that this process may take: the machine's, or the least limit of the control groups that it is in
/// (of version 1 or 2, nested), as for a container or a service of systemd.
std::int64_t available_memory();

/// Names what available_memory() is of: processes for which it is the same take that memory from each other. The system
/// since it was started, and the control groups where these are what limits.
std::string memory_pool();

/// The least of the limits of the groups in `groups` (/proc/self/cgroup), with their files below `mount`
/// (/sys/fs/cgroup), up to the outermost that is there; the largest number if there is none.
std::int64_t group_memory_limit(const std::string& groups, const std::string& mount);

}  // namespace eindb
