#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "executor/exchange.hpp"

namespace eindb {

/// Runs `f` with each exchange in a thread of its own, like the ranks of a statement.
template <class F>
void run_ranks(std::vector<std::unique_ptr<Exchange>>& exchanges, F f) {
  std::vector<std::jthread> threads;
  threads.reserve(exchanges.size());
  for (auto& exchange : exchanges) threads.emplace_back([&f, &exchange] { f(*exchange); });
}

}  // namespace eindb
