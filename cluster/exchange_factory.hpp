#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "common/error.hpp"
#include "executor/exchange.hpp"
#include "storage/shards/shard_numbers.hpp"

namespace eindb {

/// The participants of a statement from the view of one rank.
struct ExchangeRequest {
  std::uint64_t statement = 0;         ///< unique; greater than earlier numbers of the same coordinator
  Rank rank = 0;                       ///< rank of this process
  Rank coordinator = 0;                ///< rank of the session's process
  std::vector<std::string> addresses;  ///< of each rank, from its factory; empty: this rank connects to all others
};

/// The transport of the exchanges. Plans are made for its costs.
enum class Transport : std::uint8_t { Tcp, Mpi };

/// Creates the exchanges of a process for statements: over TCP, MPI, or within one process. Thread-safe.
class ExchangeFactory {
 public:
  virtual ~ExchangeFactory() = default;
  /// The address of this process's exchanges for other ranks. Empty: the address of its control channel, or none.
  virtual std::string address() const = 0;
  /// Opens this rank's exchange; other ranks may follow later. `cancellation` must outlive it. Error{WorkerLost}, a
  /// PeerLost, if a rank cannot be reached or does not connect in time.
  virtual std::unique_ptr<Exchange> open(const ExchangeRequest& request, const Cancellation& cancellation) = 0;
  /// Whether a process can take part in only one exchange at a time; a coordinator's statements then take turns.
  virtual bool is_exclusive() const { return false; }
  virtual Transport transport() const { return Transport::Tcp; }
  /// For each address of another process's exchanges, nullopt if data passes in both directions, otherwise the error.
  /// Waits at most some seconds, and polls for cancellation. The default finds no errors, as within one process.
  virtual std::vector<std::optional<Error>> probe(const std::vector<std::string>& addresses) {
    return std::vector<std::optional<Error>>(addresses.size());
  }
  /// The number for a statement that this process coordinates: see ExchangeRequest::statement.
  std::uint64_t number_statement() { return next_statement_++; }

 private:
  std::atomic<std::uint64_t> next_statement_ = static_cast<std::uint64_t>(random_identity());
};

}  // namespace eindb
