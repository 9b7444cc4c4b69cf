#pragma once

#include <span>
#include <string>

#include "executor/exchange.hpp"

namespace eindb {

/// What every exchange has to do, whatever carries its bytes: each check is run by all ranks of an exchange of its own
/// at the same time, and says by GoogleTest's assertions what is wrong. What ranks send is known to the others: it is
/// computed from their numbers.
struct ExchangeCheck {
  const char* name;
  void (*run)(Exchange& exchange);
};

std::span<const ExchangeCheck> exchange_checks();

}  // namespace eindb
