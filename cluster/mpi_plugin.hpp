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

/// Parameters for the use of MPI. They affect only speed and memory; tests use small sizes.
struct MpiTuning {
  std::size_t chunk_bytes = 8U << 20U;      ///< of a block in one call of MPI, whose counts are below 2^31
  std::size_t reduced_bytes = 512U << 10U;  ///< the same for a reduce-scatter, which works in caches
  std::size_t packed_bytes = 512U << 10U;   ///< of small messages of a stream, per peer and round
  std::size_t direct_bytes = 128U << 10U;   ///< payloads of at least this size are not copied
  bool one_thread_at_a_time = false;        ///< as with MPI_THREAD_SERIALIZED
};

/// The processes that mpirun started together, from the view of one of them. MPI is initialised while this lives.
/// Created once per process by its main thread, which also destroys it, after all channels and exchanges. All ranks
/// destroy theirs at the end of the job; destruction by an exception ends the job at all ranks.
class MpiWorld {
 public:
  virtual ~MpiWorld() = default;
  virtual Rank rank() const = 0;
  virtual std::size_t size() const = 0;
  /// The number of ranks on this machine, including this one.
  virtual std::size_t ranks_here() const = 0;
  /// Text such as "Open MPI v4.1.4, rank 0 of 4, MPI_THREAD_MULTIPLE".
  virtual std::string description() const = 0;

  /// The channel to another rank; call once for each.
  virtual std::unique_ptr<Channel> channel(Rank peer) = 0;
  /// The exchange of a statement. `statement` is equal at all ranks and greater than earlier ones. There is one
  /// exchange at a time, in any thread; further calls wait. Destruction by an exception aborts it. If it is destroyed
  /// normally while other ranks still wait for this one, their operations end with Error{WorkerLost}. The world is
  /// usable again in either case.
  virtual std::unique_ptr<Exchange> exchange(std::uint64_t statement) = 0;
};

/// Loads the plugin libeindb_mpi.so and returns this process's world. The plugin is searched in `folder`, by default in
/// the folder of the running program and then in ../lib/eindb from there. Error{Unsupported} with the package to
/// install if the plugin or Open MPI is missing, or if the plugin is of another build.
std::unique_ptr<MpiWorld> load_mpi_world(const MpiTuning& tuning = {}, const std::filesystem::path& folder = {});

/// The functions of the loading program that the plugin calls.
struct MpiPluginHost {
  MpiTuning tuning;
  /// See executor/kernels/tile_operations.
  void (*combine)(Aggregate aggregate, DType type, std::span<std::byte> into, std::span<const std::byte> from);
  /// See common/cancellation. Code of the plugin would not see the program's scopes.
  void (*poll_cancellation)();
};
/// The functions that the plugin exports.
using MpiContractFunction = const char*();  // eindb_mpi_contract
// Eindb_mpi_world: the caller deletes the result; throws Error.
using MpiWorldFunction = MpiWorld*(const MpiPluginHost* host);

}  // namespace eindb
