#pragma once

#include <cstdint>
#include <string>

namespace eindb {

/// Bytes of memory that this process may use: the machine's, or the smallest limit of its control groups (version 1 or
/// 2, nested), as set for a container or a systemd service.
std::int64_t available_memory();

/// Identifies the pool that available_memory() measures: processes with the same pool compete for its memory. It
/// combines the boot of the system with the control groups, if these limit memory.
std::string memory_pool();

/// The smallest limit of the groups listed in `groups` (/proc/self/cgroup) and of their ancestors, with their files
/// below `mount` (/sys/fs/cgroup); the largest number if there is none.
std::int64_t group_memory_limit(const std::string& groups, const std::string& mount);

}  // namespace eindb
