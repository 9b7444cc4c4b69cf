#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/connector.hpp"
#include "cluster/exchange_factory.hpp"
#include "cluster/tcp_node.hpp"

namespace eindb {

/// Control channels and exchanges of a process over TCP, all through its node. Thread-safe.
class TcpTransport final : public Connector, public ExchangeFactory {
 public:
  /// `node` must outlive it.
  explicit TcpTransport(TcpNode& node) : node_(node) {}

  /// The time limit is TcpNodeOptions::connect_time.
  std::unique_ptr<Channel> connect(const std::string& address, std::chrono::milliseconds /*timeout*/) override {
    return node_.connect(address);
  }
  /// Exchanges use the address of the control channel.
  std::string address() const override { return {}; }
  std::unique_ptr<Exchange> open(const ExchangeRequest& request, const Cancellation& cancellation) override {
    const CancellationScope scope(cancellation);
    return node_.open_exchange({request.statement, request.rank, request.addresses});
  }
  std::vector<std::optional<Error>> probe(const std::vector<std::string>& addresses) override {
    return node_.probe(addresses);
  }

 private:
  TcpNode& node_;
};

}  // namespace eindb
