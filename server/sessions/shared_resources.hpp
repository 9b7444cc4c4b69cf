#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/session.hpp"
#include "server/sessions/fair_queue.hpp"
#include "server/sessions/freed_memory.hpp"
#include "server/sessions/worker_pool.hpp"

namespace eindb {

/// The resources of the machine that a server may use for all its clients, and its directory for files.
struct ResourceLimits {
  std::int64_t memory = 0;      ///< bytes; 0: four fifths of the machine's
  int threads = 0;              ///< most threads of a statement; 0: one per core
  int heavy_statements = 0;     ///< most that run at a time; 0: one for each four cores, at least two
  std::string files_directory;  ///< for COPY; empty: none
};

/// Shared by all sessions of a server: threads, memory, and the policy that restricts clients. One per process, since
/// it limits the memory of all SQL in the process. Thread-safe.
class SharedResources {
 public:
  /// `workers`: number of threads that run statements. `read_only`: no client may change the database. Error{Value} for
  /// too little memory; also throws the errors of open_files_directory.
  SharedResources(const ResourceLimits& limits, const std::string& database, std::size_t workers, bool read_only);

  WorkerPool& workers() { return workers_; }
  const FairQueue& queue() const { return *queue_; }
  /// The limit for messages, prepared statements and parameter values of all clients together.
  std::size_t bytes_for_clients() const;
  /// Options for clients' sessions. On a read-only server all are read-only.
  SessionOptions session(bool read_only) const;

 private:
  const bool read_only_;
  const std::int64_t memory_;
  FreedMemory freed_memory_;
  WorkerPool workers_;
  std::shared_ptr<const ClientPolicy> policy_;
  std::shared_ptr<TileCachePool> caches_;
  std::shared_ptr<FairQueue> queue_;
};

}  // namespace eindb
