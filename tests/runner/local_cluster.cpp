#include "tests/runner/local_cluster.hpp"

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "cluster/tcp_node.hpp"
#include "cluster/tcp_transport.hpp"

namespace eindb::runner {
namespace {

/// Each worker has its own loopback address, so that a coordinator never finds another worker at an earlier address,
/// whichever ports the system assigns.
std::string host_of(std::size_t worker) { return "127.0.0." + std::to_string(worker + 1); }

}  // namespace

// In the order of construction: later members use earlier ones.
struct LocalCluster::Node {
  Node(const std::filesystem::path& folder, const std::string& address, NodeLog& log)
      : shards(folder.string()),
        node(options(address)),
        transport(node),
        worker(worker_options(), shards, transport, log) {
    const std::lock_guard lock(mutex);
    serving = &worker;
  }
  ~Node() {
    const std::lock_guard lock(mutex);
    serving = nullptr;
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  TcpNodeOptions options(const std::string& address) {
    TcpNodeOptions out;
    out.name = "worker";
    out.listen = address;
    // A coordinator may connect before the worker is there, and while it ends.
    out.on_channel = [this](std::unique_ptr<Channel> channel, const std::string&) {
      const std::lock_guard lock(mutex);
      if (serving != nullptr) serving->serve(std::move(channel));
    };
    return out;
  }

  std::mutex mutex;           // guards `serving`
  Worker* serving = nullptr;  // the worker, while it serves
  ShardFile shards;
  TcpNode node;
  TcpTransport transport;
  Worker worker;
};

LocalCluster::LocalCluster(const std::filesystem::path& folder, std::size_t workers, NodeLog& log,
                           std::chrono::milliseconds heartbeat)
    : log_(log), folder_(folder), heartbeat_(heartbeat), nodes_(workers) {
  for (std::size_t n = 0; n < workers; ++n) {
    start(n, host_of(n) + ":0");
    addresses_.push_back(host_of(n) + ":" + std::to_string(nodes_[n]->node.port()));
  }
  coordinator_ = another_coordinator();
}

std::unique_ptr<TcpCluster> LocalCluster::another_coordinator() {
  TcpClusterOptions options;
  options.workers = addresses_;
  options.heartbeat = heartbeat_;
  return std::make_unique<TcpCluster>(options, log_);
}

LocalCluster::~LocalCluster() = default;

NodeLog& LocalCluster::silent_log() {
  static SilentLog log;
  return log;
}

ShardFile& LocalCluster::shards(std::size_t n) { return nodes_.at(n)->shards; }

void LocalCluster::start(std::size_t n, const std::string& address) {
  const auto directory = folder_ / ("worker-" + std::to_string(n));
  std::filesystem::create_directories(directory);
  nodes_[n] = std::make_unique<Node>(directory, address, log_);
}

void LocalCluster::stop_quietly(std::size_t n) { nodes_.at(n).reset(); }
void LocalCluster::start_quietly(std::size_t n) { start(n, addresses_.at(n)); }

void LocalCluster::stop(std::size_t n) {
  stop_quietly(n);
  wait_until(n, WorkerState::Lost);
}

void LocalCluster::start(std::size_t n) {
  start_quietly(n);
  wait_until(n, WorkerState::Up);
}

void LocalCluster::wait_until(std::size_t n, WorkerState state) {
  for (int left = 24000; cluster().workers().at(n).state != state; --left) {
    if (left == 0)
      throw Error(ErrorKind::WorkerLost, "a worker of a test does not come to be " + std::string(name_of(state)));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace eindb::runner
