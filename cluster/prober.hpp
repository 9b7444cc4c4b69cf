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

/// Finds out for a coordinator whether this process exchanges data with others, in a thread of its own, as that takes
/// some seconds where it does not. Thread-safe.
class Prober {
 public:
  /// As of ExchangeFactory::probe(). Called by the prober's thread.
  using Answer = std::function<void(const std::vector<std::optional<Error>>& errors)>;

  /// `exchanges` outlives it.
  explicit Prober(ExchangeFactory& exchanges) : exchanges_(exchanges) {}
  ~Prober() { end(); }
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  /// One after the other. `answer` is not called any more after end().
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
  std::mutex mutex_;  // guards what follows, up to the thread
  std::condition_variable changed_;
  std::deque<Question> questions_;
  bool ends_ = false;
  std::thread thread_;  // from the first question on
};

}  // namespace eindb
