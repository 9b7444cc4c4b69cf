#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "cluster/channel.hpp"
#include "executor/exchange.hpp"

namespace eindb {

/// How MPI is used. Nothing but speed and memory depends on it; tests make the sizes small.
struct MpiTuning {
  std::size_t chunk_bytes = 8U << 20U;      ///< of a block in one call of MPI, whose counts end at 2^31
  std::size_t reduced_bytes = 512U << 10U;  ///< the same in a reduce-scatter, which works in caches
  std::size_t packed_bytes = 512U << 10U;   ///< of small messages of a stream, per peer and round
  std::size_t direct_bytes = 128U << 10U;   ///< a payload from here on is sent from where it lies
  bool one_thread_at_a_time = false;        ///< as where MPI allows no more than MPI_THREAD_SERIALIZED
};

/// The processes that mpirun started together, from one of them: MPI is initialised while this lives. Made once in a
/// process, by its main thread, which also destroys it, after all channels and exchanges. All ranks destroy theirs at
/// the end of the job; one that does so because of an exception ends the job at all ranks.
class MpiWorld {
 public:
  virtual ~MpiWorld() = default;
  virtual Rank rank() const = 0;
  virtual std::size_t size() const = 0;
  /// How many of them share this machine, this one included.
  virtual std::size_t ranks_here() const = 0;
  /// "Open MPI v4.1.4, rank 0 of 4, MPI_THREAD_MULTIPLE"
  virtual std::string description() const = 0;

  /// To another rank; once for each.
  virtual std::unique_ptr<Channel> channel(Rank peer) = 0;
  /// For a statement: the same number at all ranks, greater than those before it. One at a time, in whatever thread;
  /// other statements wait for their turn. Destroyed by an exception, it is aborted; destroyed otherwise while others
  /// still want something of this rank, their operations end with Error{WorkerLost}. After either the world is as good
  /// as new.
  virtual std::unique_ptr<Exchange> exchange(std::uint64_t statement) = 0;
};

/// The world of this process, by way of the plugin libeindb_mpi.so, which is looked for in `folder`, by default that of
/// the running program and then ../lib/eindb from there. Error{Unsupported} that names the package to install if the
/// plugin or Open MPI are missing, or the plugin is of another build.
std::unique_ptr<MpiWorld> load_mpi_world(const MpiTuning& tuning = {}, const std::filesystem::path& folder = {});

/// The functions of the loading program that the plugin calls.
struct MpiPluginHost {
  MpiTuning tuning;
  /// As in executor/kernels/tile_operations.
  void (*combine)(Aggregate aggregate, DType type, std::span<std::byte> into, std::span<const std::byte> from);
  /// As in common/cancellation: the program's scopes are not those that code of the plugin would see.
  void (*poll_cancellation)();
};
/// The functions that the plugin exports.
using MpiContractFunction = const char*();                      // eindb_mpi_contract
using MpiWorldFunction = MpiWorld*(const MpiPluginHost* host);  // eindb_mpi_world: to be deleted; throws Error

}  // namespace eindb
