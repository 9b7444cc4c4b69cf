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

/// How much of the machine a server has for all of its clients, and which of its files.
struct ResourceLimits {
  std::int64_t memory = 0;      ///< bytes; 0: four fifths of the machine's
  int threads = 0;              ///< that a statement may use; 0: the cores
  int heavy_statements = 0;     ///< that run at a time; 0: one for four cores, at least two
  std::string files_directory;  ///< of COPY; empty: none
};

/// What all sessions of a server share: threads, memory, and what clients may not do. One in a process, whose SQL keeps
/// to a part of the memory. Thread-safe.
class SharedResources {
 public:
  /// `workers`: threads that run statements. `read_only`: nobody changes the database. Error{Value} for too little
  /// memory; as open_files_directory.
  SharedResources(const ResourceLimits& limits, const std::string& database, std::size_t workers, bool read_only);

  WorkerPool& workers() { return workers_; }
  const FairQueue& queue() const { return *queue_; }
  /// What messages, prepared statements and values of parameters of all clients may take together.
  std::size_t bytes_for_clients() const;
  /// For sessions of clients; of a server that is read-only all are.
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
