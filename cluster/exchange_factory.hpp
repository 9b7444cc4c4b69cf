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

/// Who takes part in a statement, as one of its ranks sees it.
struct ExchangeRequest {
  std::uint64_t statement = 0;  ///< no other has the number; greater than those before it of the same coordinator
  Rank rank = 0;                ///< of this process
  Rank coordinator = 0;         ///< the rank of the session
  std::vector<std::string> addresses;  ///< of each rank, as its factory gave it; empty: it reaches out to all others
};

/// How a process takes part in the exchanges of statements: over TCP, MPI, or within one process. Thread-safe.
class ExchangeFactory {
 public:
  virtual ~ExchangeFactory() = default;
  /// Where other ranks reach the exchanges of this process; empty: where its control is reached, or nowhere.
  virtual std::string address() const = 0;
  /// This rank's exchange; others may come later. `cancellation` outlives it. Error{WorkerLost}, a PeerLost, if a rank
  /// cannot be reached, or does not come in time.
  virtual std::unique_ptr<Exchange> open(const ExchangeRequest& request, const Cancellation& cancellation) = 0;
  /// Whether a process can be in but one exchange at a time: statements of a coordinator then take turns.
  virtual bool is_exclusive() const { return false; }
  /// Of each address of another process's exchanges whether data goes both ways between it and this one: absent, or why
  /// not. Waits some seconds at most, and looks for cancellation. By default it does, as within one process.
  virtual std::vector<std::optional<Error>> probe(const std::vector<std::string>& addresses) {
    return std::vector<std::optional<Error>>(addresses.size());
  }
  /// For a statement that this process coordinates: see ExchangeRequest::statement.
  std::uint64_t number_statement() { return next_statement_++; }

 private:
  std::atomic<std::uint64_t> next_statement_ = static_cast<std::uint64_t>(random_identity());
};

}  // namespace eindb
