#pragma once

#include <array>
#include <span>

#include "optimizer/redistribution/exchange_choice.hpp"
#include "plan/transport_costs.hpp"

namespace eindb {

/// A measured exchange: how often each of kTransportCosts is incurred by its slowest rank, and its seconds.
struct ExchangeSample {
  std::array<double, kTransportCosts.size()> counts{};
  double seconds = 0;
};

/// The counts by which forecast() predicts an exchange near `costs`, in pieces or by its sequence of collectives. The
/// ranks' memory is not limited. Throws Error{Internal} if the sequence is asked for and there is none.
ExchangeSample counted(const BlockExchange& exchange, bool by_collectives, const TransportCosts& costs);

/// The costs that predict the measured seconds best: they minimise the squares of the relative errors, and of the
/// relative differences from `prior` times one factor, which weigh little but decide what the samples do not tell. All
/// costs stay positive. Samples have positive seconds; without any, the prior is returned.
TransportCosts fit_transport(std::span<const ExchangeSample> samples, const TransportCosts& prior);

}  // namespace eindb
