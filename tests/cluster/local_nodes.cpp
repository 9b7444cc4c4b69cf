#include "tests/cluster/local_nodes.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace eindb {

void LoggedLines::add(std::string_view line) {
  const std::lock_guard lock(mutex_);
  lines_.emplace_back(line);
}

std::vector<std::string> LoggedLines::lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

bool LoggedLines::has(std::string_view text) const {
  for (int n = 0; n < 24000; ++n) {
    const auto all = lines();
    if (std::any_of(all.begin(), all.end(), [&](const auto& line) { return line.find(text) != std::string::npos; }))
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TcpNodeOptions local_options(const std::string& secret, LoggedLines* log) {
  TcpNodeOptions options{.name = "worker", .listen = "127.0.0.1:0", .secret = ClusterSecret::of(secret)};
  if (log != nullptr) options.log = [log](std::string_view line) { log->add(line); };
  return options;
}

std::string address_of(const TcpNode& node) { return "127.0.0.1:" + std::to_string(node.port()); }

LocalNodes::LocalNodes(std::size_t ranks, const TcpNodeOptions& options) {
  for (std::size_t n = 0; n < ranks; ++n) {
    auto own = options;
    if (n + 1 == ranks) own.listen.reset();
    nodes_.push_back(std::make_unique<TcpNode>(std::move(own)));
  }
}

std::vector<std::string> LocalNodes::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& node : nodes_) addresses.push_back(node->port() == 0 ? "" : address_of(*node));
  return addresses;
}

std::vector<std::unique_ptr<Exchange>> LocalNodes::open() {
  ++statement_;
  std::vector<std::unique_ptr<Exchange>> exchanges(size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t n = 0; n < size(); ++n)
      threads.emplace_back([&, n] {
        exchanges[n] =
            nodes_[n]->open_exchange({.statement = statement_, .rank = static_cast<Rank>(n), .addresses = addresses()});
      });
  }
  return exchanges;
}

}  // namespace eindb
