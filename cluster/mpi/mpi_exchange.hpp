#pragma once

#include <functional>
#include <mutex>

#include "cluster/mpi/agreement.hpp"
#include "cluster/mpi/communicators.hpp"
#include "cluster/mpi/stream_rounds.hpp"
#include "cluster/mpi_plugin.hpp"
#include "executor/exchange.hpp"

namespace eindb::mpi {

/// The state that all exchanges of one MPI world share.
struct Transport {
  ThreadGate& gate;
  Agreement& agreement;
  Communicators& communicators;
  MpiPluginHost host;
  ParcelMemory parcels = {};          ///< used by the current exchange
  std::vector<std::byte> parts = {};  ///< used by the current exchange for data to be reduced
};

/// The Exchange of a statement over MPI's collectives. An operation runs in rounds of at most one chunk per block. The
/// members agree before each round and then call MPI, which soon returns since all are there. So waiting for late
/// members yields the processor and can be cancelled, and no MPI call is ever abandoned.
///
/// A reduce-scatter is an all-to-all, after which each rank combines the received blocks with the executor's kernels.
/// NaNs and integer overflow then behave as elsewhere in eindb, and it takes a third of the time of Open MPI's
/// MPI_Reduce_scatter_block.
class MpiExchange final : public Exchange {
 public:
  MpiExchange(Transport& transport, Agreement::Statement statement);
  ~MpiExchange() override;
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;

  Rank rank() const override { return transport_.agreement.rank(); }
  std::size_t size() const override { return transport_.agreement.size(); }
  void all_to_all(OutgoingStreams& out, IncomingStreams& in) override;
  void all_gather(const Group& group, std::span<const std::byte> mine, std::span<std::byte> all) override;
  void all_to_all(const Group& group, std::span<const std::byte> out, std::span<std::byte> in) override;
  void reduce_scatter(const Group& group, Aggregate aggregate, DType type, std::span<const std::byte> in,
                      std::span<std::byte> mine) override;
  void permute(Rank to, Rank from, std::span<const std::byte> out, std::span<std::byte> in) override;
  void barrier(const Group& group) override;
  void abort(std::exception_ptr error) noexcept override;
  ExchangeCounters counters() const override;

 private:
  enum class Operation : std::uint64_t { Streams, AllGather, AllToAll, ReduceScatter, Permute, Barrier };
  /// One round of an operation: `bytes` of each block, from `offset` on.
  using Round = std::function<void(MPI_Comm comm, std::size_t offset, std::size_t bytes)>;

  std::uint64_t agree(const Group& group, Operation operation, std::uint64_t detail, std::uint64_t value = 0);
  std::size_t chunk_of(const Group& group, std::size_t unit, std::size_t bytes) const;
  void in_rounds(const Group& group, Operation operation, std::size_t block, std::size_t chunk, const Round& round);
  void exchange_blocks(MPI_Comm comm, std::span<const std::byte> out, std::size_t block, std::size_t offset,
                       std::size_t bytes, std::byte* into, std::size_t stride);
  void send_and_receive(Rank to, std::span<const std::byte> out, Rank from, std::span<std::byte> in);
  void count(std::size_t sent, std::size_t received, std::size_t messages);

  Transport& transport_;
  const Agreement::Statement statement_;
  const int exceptions_;  ///< number of uncaught exceptions at construction
  Group everyone_;

  mutable std::mutex counters_mutex_;  // guards counters_
  ExchangeCounters counters_;
};

}  // namespace eindb::mpi
