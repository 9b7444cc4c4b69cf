#include "cluster/renumbered_exchange.hpp"

#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

Rank renumbered(const std::vector<Rank>& numbers, Rank rank) {
  CHECK(rank < numbers.size(), "a rank that has another number is one of the exchange's");
  return numbers[rank];
}

[[maybe_unused]] bool is_inverse(const std::vector<Rank>& below, const std::vector<Rank>& above) {
  for (std::size_t rank = 0; rank < below.size(); ++rank)
    if (above[below[rank]] != rank) return false;
  return true;
}

class RenumberedOutgoing final : public OutgoingStreams {
 public:
  RenumberedOutgoing(OutgoingStreams& streams, const std::vector<Rank>& above) : streams_(streams), above_(above) {}
  std::optional<OutgoingMessage> next(Rank peer) override { return streams_.next(renumbered(above_, peer)); }
  bool sends_to(Rank peer) const override { return streams_.sends_to(renumbered(above_, peer)); }

 private:
  OutgoingStreams& streams_;
  const std::vector<Rank>& above_;
};

class RenumberedIncoming final : public IncomingStreams {
 public:
  RenumberedIncoming(IncomingStreams& streams, const std::vector<Rank>& above) : streams_(streams), above_(above) {}
  std::span<std::byte> begin(Rank peer, std::span<const std::byte> header, std::size_t size) override {
    return streams_.begin(renumbered(above_, peer), header, size);
  }
  void end(Rank peer) override { streams_.end(renumbered(above_, peer)); }
  bool receives_from(Rank peer) const override { return streams_.receives_from(renumbered(above_, peer)); }

 private:
  IncomingStreams& streams_;
  const std::vector<Rank>& above_;
};

}  // namespace

RenumberedExchange::RenumberedExchange(std::unique_ptr<Exchange> exchange, std::vector<Rank> below)
    : exchange_(std::move(exchange)), below_(std::move(below)), above_(below_.size()) {
  CHECK(exchange_ != nullptr, "there is an exchange below");
  CHECK(below_.size() == exchange_->size(), "every rank has a new number");
  for (std::size_t rank = 0; rank < below_.size(); ++rank) {
    CHECK(below_[rank] < above_.size(), "a rank has a number below the number of ranks");
    above_[below_[rank]] = static_cast<Rank>(rank);
  }
  DCHECK(is_inverse(below_, above_), "no two ranks have the same number");
  rank_ = above_[exchange_->rank()];
}

Exchange::Group RenumberedExchange::below(const Group& group) const {
  Group out;
  out.reserve(group.size());
  for (const Rank rank : group) out.push_back(renumbered(below_, rank));
  return out;
}

void RenumberedExchange::all_to_all(OutgoingStreams& out, IncomingStreams& in) {
  RenumberedOutgoing outgoing(out, above_);
  RenumberedIncoming incoming(in, above_);
  exchange_->all_to_all(outgoing, incoming);
}

void RenumberedExchange::all_gather(const Group& group, std::span<const std::byte> mine, std::span<std::byte> all) {
  exchange_->all_gather(below(group), mine, all);
}

void RenumberedExchange::all_to_all(const Group& group, std::span<const std::byte> out, std::span<std::byte> in) {
  exchange_->all_to_all(below(group), out, in);
}

void RenumberedExchange::reduce_scatter(const Group& group, Aggregate aggregate, DType type,
                                        std::span<const std::byte> in, std::span<std::byte> mine) {
  exchange_->reduce_scatter(below(group), aggregate, type, in, mine);
}

void RenumberedExchange::permute(Rank to, Rank from, std::span<const std::byte> out, std::span<std::byte> in) {
  exchange_->permute(renumbered(below_, to), renumbered(below_, from), out, in);
}

void RenumberedExchange::barrier(const Group& group) { exchange_->barrier(below(group)); }

}  // namespace eindb
