#include "tests/runner/local_cluster.hpp"

#include <chrono>
#include <string>

#include "cluster/tcp_node.hpp"
#include "cluster/tcp_transport.hpp"

namespace eindb::runner {

// In the order of construction: what comes later uses what came before.
struct LocalCluster::Node {
  Node(const std::filesystem::path& folder, NodeLog& log)
      : shards(folder.string()), node(options()), transport(node), worker(worker_options(), shards, transport, log) {}

  TcpNodeOptions options() {
    TcpNodeOptions out;
    out.name = "worker";
    out.listen = "127.0.0.1:0";
    out.on_channel = [this](std::unique_ptr<Channel> channel, const std::string&) { worker.serve(std::move(channel)); };
    return out;
  }

  ShardFile shards;
  TcpNode node;
  TcpTransport transport;
  Worker worker;
};

LocalCluster::LocalCluster(const std::filesystem::path& folder, std::size_t workers) {
  TcpClusterOptions options;
  // Tests run beside each other: nobody is lost because the machine is busy.
  options.heartbeat = std::chrono::seconds(10);
  for (std::size_t n = 0; n < workers; ++n) {
    const auto directory = folder / ("worker-" + std::to_string(n));
    std::filesystem::create_directories(directory);
    nodes_.push_back(std::make_unique<Node>(directory, log_));
    options.workers.push_back("127.0.0.1:" + std::to_string(nodes_.back()->node.port()));
  }
  coordinator_ = std::make_unique<TcpCluster>(options, log_);
}

LocalCluster::~LocalCluster() = default;

}  // namespace eindb::runner
