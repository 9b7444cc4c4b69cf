// Exchange between the ranks of one statement, over TCP on loopback and within the process: throughput of streams of
// messages of several sizes between two ranks, in one direction and in both, and the latency of barriers and of
// starting a statement. Usage: exchange [MEBIBYTES]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cluster/tcp_node.hpp"
#include "executor/in_process_exchange.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;
using Exchanges = std::vector<std::unique_ptr<Exchange>>;

class Sender : public OutgoingStreams {
 public:
  Sender(std::size_t size, std::size_t count) : payload_(size, std::byte{7}), left_(count) {}
  std::optional<OutgoingMessage> next(Rank /*peer*/) override {
    if (left_ == 0) return std::nullopt;
    --left_;
    return OutgoingMessage{.header = {}, .payload = payload_};
  }

 private:
  std::vector<std::byte> payload_;
  std::size_t left_;
};

class Receiver : public IncomingStreams {
 public:
  explicit Receiver(std::size_t size) : target_(size) {}
  std::span<std::byte> begin(Rank /*peer*/, std::span<const std::byte> /*header*/, std::size_t size) override {
    return std::span(target_).first(size);
  }
  void end(Rank /*peer*/) override {}

 private:
  std::vector<std::byte> target_;
};

double seconds_of(Exchanges& exchanges, const std::function<void(Exchange&)>& run) {
  const auto start = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (auto& exchange : exchanges) threads.emplace_back([&] { run(*exchange); });
  }
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void measure_streams(const char* name, Exchanges& exchanges, std::size_t bytes) {
  for (const std::size_t size :
       {std::size_t{256}, std::size_t{16} << 10U, std::size_t{1} << 20U, std::size_t{16} << 20U})
    for (const bool both : {false, true}) {
      const auto count = std::min(std::max(bytes / size, std::size_t{1}), std::size_t{200'000});
      const auto seconds = seconds_of(exchanges, [&](Exchange& exchange) {
        Sender out(size, exchange.rank() == 0 || both ? count : 0);
        Receiver in(size);
        exchange.all_to_all(out, in);
      });
      std::printf("  %-12s %9zu bytes a message, %-14s %8.2f GB/s each way %10.0f messages/s\n", name, size,
                  both ? "both ways" : "one way", static_cast<double>(size * count) / seconds / 1e9,
                  static_cast<double>(count) / seconds);
    }
}

void measure_barriers(const char* name, Exchanges& exchanges) {
  constexpr int kRounds = 5000;
  const auto seconds = seconds_of(exchanges, [&](Exchange& exchange) {
    Exchange::Group group(exchange.size());
    std::iota(group.begin(), group.end(), Rank{0});
    for (int n = 0; n < kRounds; ++n) exchange.barrier(group);
  });
  std::printf("  %-12s barrier of %zu ranks: %.1f us\n", name, exchanges.size(), seconds / kRounds * 1e6);
}

class LocalCluster {
 public:
  explicit LocalCluster(std::size_t ranks) {
    for (std::size_t n = 0; n < ranks; ++n) {
      nodes_.push_back(std::make_unique<TcpNode>(TcpNodeOptions{.name = "bench", .listen = "127.0.0.1:0"}));
      addresses_.push_back("127.0.0.1:" + std::to_string(nodes_.back()->port()));
    }
  }
  Exchanges open() {
    ++statement_;
    Exchanges exchanges(nodes_.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t n = 0; n < nodes_.size(); ++n)
        threads.emplace_back([&, n] {
          exchanges[n] = nodes_[n]->open_exchange(
              {.statement = statement_, .rank = static_cast<Rank>(n), .addresses = addresses_});
        });
    }
    return exchanges;
  }

 private:
  std::vector<std::unique_ptr<TcpNode>> nodes_;
  std::vector<std::string> addresses_;
  std::uint64_t statement_ = 0;
};

void measure_beginnings(std::size_t ranks) {
  LocalCluster cluster(ranks);
  const auto first = Clock::now();
  cluster.open();
  const auto start = Clock::now();
  constexpr int kRounds = 200;
  for (int n = 0; n < kRounds; ++n) cluster.open();
  const auto micros = [](auto time) { return std::chrono::duration<double, std::micro>(time).count(); };
  std::printf("  %-12s a statement of %zu ranks begins: first %.0f us, later %.0f us\n", "TCP", ranks,
              micros(start - first), micros(Clock::now() - start) / kRounds);
}

void measure(std::size_t bytes) {
  auto threads = in_process_exchanges(2);
  measure_streams("in process", threads, bytes);
  LocalCluster pair(2);
  auto connected = pair.open();
  measure_streams("TCP", connected, bytes);
  for (const std::size_t ranks : {2, 4, 8}) {
    auto local = in_process_exchanges(ranks);
    measure_barriers("in process", local);
    LocalCluster cluster(ranks);
    auto exchanges = cluster.open();
    measure_barriers("TCP", exchanges);
  }
  measure_beginnings(4);
}

}  // namespace
}  // namespace eindb

int main(int argc, char** argv) {
  eindb::measure((argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1024) << 20U);
  return 0;
}
