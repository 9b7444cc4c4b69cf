#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/tcp_node.hpp"

namespace eindb {

/// The log lines of nodes in order. Thread-safe.
class LoggedLines {
 public:
  void add(std::string_view line);
  std::vector<std::string> lines() const;
  /// Waits for a line that contains `text`; false if none comes.
  bool has(std::string_view text) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Options of a node on a free port of this machine.
TcpNodeOptions local_options(const std::string& secret = "", LoggedLines* log = nullptr);
std::string address_of(const TcpNode& node);

/// The nodes of a cluster in one process: workers, and a coordinator, which does not listen.
class LocalNodes {
 public:
  /// `options` is for all nodes; the last one does not listen.
  explicit LocalNodes(std::size_t ranks, const TcpNodeOptions& options = local_options());

  TcpNode& node(std::size_t n) { return *nodes_[n]; }
  std::size_t size() const { return nodes_.size(); }
  std::vector<std::string> addresses() const;
  /// Opens the exchanges of a new statement, each in a thread of its own.
  std::vector<std::unique_ptr<Exchange>> open();

 private:
  std::vector<std::unique_ptr<TcpNode>> nodes_;
  std::uint64_t statement_ = 0;
};

}  // namespace eindb
