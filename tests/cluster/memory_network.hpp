#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cluster/connector.hpp"
#include "cluster/exchange_factory.hpp"

namespace eindb {

/// The state shared by the two ends of a channel in memory.
class MemoryPipe;

/// Control channels between threads of a test, with simulated failures.
class MemoryNetwork final : public Connector {
 public:
  using Accept = std::function<void(std::unique_ptr<Channel>)>;

  /// Passes the other end of later channels to the address to `accept`.
  void listen(const std::string& address, Accept accept);
  void close(const std::string& address);
  std::unique_ptr<Channel> connect(const std::string& address, std::chrono::milliseconds timeout) override;

  /// Breaks all channels to the address, as if the process there were killed.
  void cut(const std::string& address);
  /// Stops all channels to the address, as if the process there were suspended.
  void freeze(const std::string& address);

 private:
  std::mutex mutex_;  // guards the members below
  std::map<std::string, Accept> listeners_;
  std::multimap<std::string, std::shared_ptr<MemoryPipe>> pipes_;
};

/// The exchanges of all nodes of a test, which are threads of one process.
class MemoryExchanges final : public ExchangeFactory {
 public:
  std::string address() const override { return "memory"; }
  std::unique_ptr<Exchange> open(const ExchangeRequest& request, const Cancellation& cancellation) override;
  std::vector<std::optional<Error>> probe(const std::vector<std::string>& addresses) override;

  /// Stops data between the first two ranks of later statements. Probes fail too, if `is_noticed`.
  void break_first_ranks(bool is_noticed);
  void mend();

 private:
  std::mutex mutex_;  // guards what follows
  bool is_broken_ = false;
  bool is_noticed_ = false;
  // Statements that some ranks have not joined yet.
  std::map<std::uint64_t, std::vector<std::unique_ptr<Exchange>>> statements_;
};

}  // namespace eindb
