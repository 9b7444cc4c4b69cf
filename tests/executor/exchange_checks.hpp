#pragma once

#include <span>
#include <string>

#include "executor/exchange.hpp"

namespace eindb {

/// Requirements on every exchange, over any transport. Each check is run by all ranks of a separate exchange
/// concurrently, and reports failures by GoogleTest's assertions. The data of ranks is computed from their numbers, so
/// the other ranks know it.
struct ExchangeCheck {
  const char* name;
  void (*run)(Exchange& exchange);
};

std::span<const ExchangeCheck> exchange_checks();

}  // namespace eindb
