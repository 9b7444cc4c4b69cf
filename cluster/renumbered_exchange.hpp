#pragma once

#include <memory>
#include <vector>

#include "executor/exchange.hpp"

namespace eindb {

/// An exchange that renumbers the ranks of another one. A plan's ranks are the workers, then the coordinator; MPI's
/// order differs. All ranks of a statement use the same permutation. Errors name ranks by the underlying numbers, by
/// which workers are known (SHOW WORKERS).
class RenumberedExchange : public Exchange {
 public:
  /// Rank r is rank below[r] of `exchange`; `below` is a permutation.
  RenumberedExchange(std::unique_ptr<Exchange> exchange, std::vector<Rank> below);

  Rank rank() const override { return rank_; }
  std::size_t size() const override { return exchange_->size(); }
  void all_to_all(OutgoingStreams& out, IncomingStreams& in) override;
  void all_gather(const Group& group, std::span<const std::byte> mine, std::span<std::byte> all) override;
  void all_to_all(const Group& group, std::span<const std::byte> out, std::span<std::byte> in) override;
  void reduce_scatter(const Group& group, Aggregate aggregate, DType type, std::span<const std::byte> in,
                      std::span<std::byte> mine) override;
  void permute(Rank to, Rank from, std::span<const std::byte> out, std::span<std::byte> in) override;
  void barrier(const Group& group) override;
  void abort(std::exception_ptr error) noexcept override { exchange_->abort(std::move(error)); }
  ExchangeCounters counters() const override { return exchange_->counters(); }

 private:
  Group below(const Group& group) const;

  const std::unique_ptr<Exchange> exchange_;
  const std::vector<Rank> below_;  // by rank
  std::vector<Rank> above_;        // the inverse permutation
  Rank rank_ = 0;
};

}  // namespace eindb
