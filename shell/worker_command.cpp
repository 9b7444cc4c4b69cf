#include "shell/worker_command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <optional>
#include <thread>

#include "cluster/tcp_cluster.hpp"
#include "cluster/worker.hpp"
#include "common/error.hpp"
#include "common/machine_memory.hpp"
#include "common/open_databases.hpp"
#include "engine/settings/settings.hpp"
#include "shell/listen_place.hpp"
#include "shell/server_node_log.hpp"
#include "shell/worker_pages.hpp"

namespace eindb {
namespace {

/// The divisor for the part of a worker's memory that unprocessed received messages may use.
constexpr std::int64_t kMessageShare = 8;
constexpr std::int64_t kLeastDisk = std::int64_t{64} << 20U;

// Parses "40%" as a share of the available memory.
std::optional<std::int64_t> share_of_memory(const std::string& text) {
  int percent = 0;
  const auto* const end = text.data() + text.size() - 1;
  const auto [parsed, error] = std::from_chars(text.data(), end, percent);
  if (error != std::errc() || parsed != end || percent < 1 || percent > 100) return std::nullopt;
  return available_memory() / 100 * percent;
}

std::int64_t most_bytes_of(const WorkerCommand& command) {
  if (command.disk_limit.empty()) return 0;
  const auto bytes = parse_byte_size(command.disk_limit);
  if (bytes && *bytes >= kLeastDisk) return *bytes;
  throw Error(ErrorKind::Value, "'" + command.disk_limit + "' is no size of a disk from 64MiB on", std::nullopt,
              "write it as in --disk-limit 500GB");
}

WorkerOptions options_of(const WorkerCommand& command) {
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  return {.program = EINDB_VERSION,
          .threads = command.threads > 0 ? static_cast<std::uint32_t>(command.threads) : cores,
          .memory_limit = worker_memory(command.memory_limit),
          .messages = std::make_shared<MessageMemory>(worker_memory(command.memory_limit) / kMessageShare),
          .memory_pool = command.memory_limit.empty() ? memory_pool() : "",
          .scratch_directory = command.data,
          .disk_timeout = command.disk_timeout,
          .scrub_rate = command.scrub_rate,
          .databases = command.data + "/databases",
          .most_bytes = most_bytes_of(command)};
}

// Handles SIGTERM and SIGINT in a thread of its own: the first signal drains the worker, the second ends running
// statements. Constructed before all other threads, which inherit the blocked signals.
class SignalsToWorker {
 public:
  SignalsToWorker() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  ~SignalsToWorker() {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
  }
  SignalsToWorker(const SignalsToWorker&) = delete;
  SignalsToWorker& operator=(const SignalsToWorker&) = delete;

  void send_to(Worker& worker) {
    thread_ = std::thread([this, &worker] { wait(worker); });
  }

 private:
  void wait(Worker& worker) {
    constexpr timespec kPoll{.tv_sec = 0, .tv_nsec = 100'000'000};
    bool drains = false;
    while (!ends_) {
      if (sigtimedwait(&signals_, nullptr, &kPoll) < 0) continue;
      if (drains) worker.end_statements();
      worker.drain();
      drains = true;
    }
  }

  sigset_t signals_{};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace

std::int64_t worker_memory(const std::string& size) {
  if (size.empty()) return available_memory() / 5 * 4;
  const auto bytes = size.ends_with('%') ? share_of_memory(size) : parse_byte_size(size);
  if (bytes && *bytes >= MemoryShares::kLeast) return *bytes;
  throw Error(ErrorKind::Value, "'" + size + "' is no size of memory from 4MiB on", std::nullopt,
              "write it as in --memory-limit 2GB, or --memory-limit 40% of what there is");
}

void run_worker(const WorkerCommand& command) {
  const auto tls = tls_of(command.trust, "--tls");
  SignalsToWorker signals;
  ServerLog log(command.log);
  ServerNodeLog node_log(log);
  const auto options = options_of(command);
  ShardFile shards(command.data, options.most_bytes, options.databases);
  if (const auto& file = command.log.file; !file.empty())
    refuse_open_database(AT_FDCWD, file, "cannot write the log to " + file);
  std::atomic<Worker*> serving{nullptr};  // coordinators that connect too early try again

  TcpNodeOptions node_options;
  node_options.name = command.listen;
  node_options.listen = command.listen;
  node_options.secret = secret_of(command.trust.secret_file);
  node_options.tls = tls;
  node_options.local_sockets = !command.tcp_only;
  node_options.messages = options.messages;
  node_options.log = [&](std::string_view line) { node_log.write(NodeLog::Level::Warning, "connection", "", line); };
  node_options.on_channel = [&](std::unique_ptr<Channel> channel, const std::string&) {
    if (auto* worker = serving.load()) worker->serve(std::move(channel));
  };
  TcpNode node(node_options);
  TcpTransport transport(node);
  Worker worker(options, shards, transport, node_log);
  WorkerPages pages(worker);
  std::optional<HttpEndpoint> http;
  if (const auto place = read_http(command.http, command.http_allow_remote))
    http.emplace(*place, [&](std::string_view path) { return pages.page(path); });
  serving = &worker;
  signals.send_to(worker);
  std::printf("listening on port %d\n", int{node.port()});
  if (http) std::printf("http on port %d\n", int{http->port()});
  std::fflush(stdout);
  worker.wait_until_left();
  serving = nullptr;
}

}  // namespace eindb
