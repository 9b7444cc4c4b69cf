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

/// What the two ends of a channel in memory share.
class MemoryPipe;

/// Control channels between threads of a test, and what can happen to them.
class MemoryNetwork final : public Connector {
 public:
  using Accept = std::function<void(std::unique_ptr<Channel>)>;

  /// From now on `accept` gets the other end of channels to the address.
  void listen(const std::string& address, Accept accept);
  void close(const std::string& address);
  std::unique_ptr<Channel> connect(const std::string& address, std::chrono::milliseconds timeout) override;

  /// All channels to the address break, as if the process there was killed.
  void cut(const std::string& address);
  /// Nothing gets through any more in channels to the address, as if the process there was stopped.
  void freeze(const std::string& address);

 private:
  std::mutex mutex_;  // guards what follows
  std::map<std::string, Accept> listeners_;
  std::multimap<std::string, std::shared_ptr<MemoryPipe>> pipes_;
};

/// The exchanges of all nodes of a test, which are threads of one process.
class MemoryExchanges final : public ExchangeFactory {
 public:
  std::string address() const override { return "memory"; }
  std::unique_ptr<Exchange> open(const ExchangeRequest& request, const Cancellation& cancellation) override;
  std::vector<std::optional<Error>> probe(const std::vector<std::string>& addresses) override;

  /// From now on no data goes between the first two ranks of statements; probes fail, too, if they notice.
  void break_first_ranks(bool is_noticed);
  void mend();

 private:
  std::mutex mutex_;  // guards what follows
  bool is_broken_ = false;
  bool is_noticed_ = false;
  std::map<std::uint64_t, std::vector<std::unique_ptr<Exchange>>> statements_;  // whose ranks have not all come
};

}  // namespace eindb
