#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster/exchange_factory.hpp"
#include "common/cancellation.hpp"
#include "common/error.hpp"

namespace eindb {

/// Tests for a coordinator whether this process exchanges data with other nodes. It has a thread of its own, since a
/// failing test takes some seconds. Thread-safe.
class Prober {
 public:
  /// Receives the result of ExchangeFactory::probe(). Called by the prober's thread.
  using Answer = std::function<void(const std::vector<std::optional<Error>>& errors)>;

  /// `exchanges` must outlive it.
  explicit Prober(ExchangeFactory& exchanges) : exchanges_(exchanges) {}
  ~Prober() { end(); }
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  /// Queues a test; tests run one at a time. `answer` is not called after end().
  void ask(std::vector<std::string> addresses, Answer answer);
  void end() noexcept;

 private:
  struct Question {
    std::vector<std::string> addresses;
    Answer answer;
  };
  void run() noexcept;

  ExchangeFactory& exchanges_;
  Cancellation ending_;
  std::mutex mutex_;  // guards the members below, up to the thread
  std::condition_variable changed_;
  std::deque<Question> questions_;
  bool ends_ = false;
  std::thread thread_;  // starts with the first test
};

}  // namespace eindb
