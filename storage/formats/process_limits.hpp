#pragma once

#include <cstdint>

namespace eindb {

/// The limits of a process that opens an untrusted file, of which the calling process is the one: a file that wants
/// more memory than it should get makes allocations fail, one that keeps the processor busy ends the process by
/// SIGXCPU. None of the functions takes a lock.
class ProcessLimits {
 public:
  /// Measures the memory of this process, to which the limits add.
  ProcessLimits();

  /// Until the file is open: 24 MiB more, and two seconds of processor time.
  void begin_opening() const;
  /// From then on: any time, and memory as below.
  void end_opening(std::int64_t bytes) const;
  /// `bytes` beyond what may be taken during the opening.
  void allow_memory(std::int64_t bytes) const;

 private:
  std::int64_t base_;
};

}  // namespace eindb
