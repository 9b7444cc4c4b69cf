#include "shell/worker_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <optional>
#include <thread>

#include "cluster/tcp_cluster.hpp"
#include "cluster/worker.hpp"
#include "common/error.hpp"
#include "engine/settings.hpp"
#include "shell/server_node_log.hpp"

namespace eindb {
namespace {

std::optional<TlsOptions> tls_of(const WorkerCommand& command) {
  const auto& tls = command.tls;
  if (tls.certificate.empty() && tls.key.empty() && tls.authority.empty()) return std::nullopt;
  if (!tls.certificate.empty() && !tls.key.empty() && !tls.authority.empty()) return tls;
  throw Error(ErrorKind::Value, "TLS between nodes takes a certificate, its key and the authority that signs them all",
              std::nullopt, "give --tls-cert FILE, --tls-key FILE and --tls-ca FILE");
}

WorkerOptions options_of(const WorkerCommand& command) {
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  return {.program = EINDB_VERSION,
          .threads = command.threads > 0 ? static_cast<std::uint32_t>(command.threads) : cores,
          .memory_limit = worker_memory(command.memory_limit),
          .scratch_directory = command.data};
}

// SIGTERM and SIGINT in a thread of its own: the first drains the worker, the second ends what runs. Made before all
// other threads, which inherit that these signals are not for them.
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
  if (!size.empty()) {
    if (const auto bytes = parse_byte_size(size); bytes && *bytes >= MemoryShares::kLeast) return *bytes;
    throw Error(ErrorKind::Value, "'" + size + "' is no size of memory from 4MiB on", std::nullopt,
                "write it as in --memory-limit 2GB");
  }
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 5 * 4;
}

void run_worker(const WorkerCommand& command) {
  SignalsToWorker signals;
  ServerLog log(command.log);
  ServerNodeLog node_log(log);
  ShardFile shards(command.data);
  std::atomic<Worker*> serving{nullptr};  // coordinators that come too early come again

  TcpNodeOptions node_options;
  node_options.name = command.listen;
  node_options.listen = command.listen;
  node_options.secret = secret_of(command.secret_file);
  node_options.tls = tls_of(command);
  node_options.log = [&](std::string_view line) { node_log.write(NodeLog::Level::Warning, "connection", "", line); };
  node_options.on_channel = [&](std::unique_ptr<Channel> channel, const std::string&) {
    if (auto* worker = serving.load()) worker->serve(std::move(channel));
  };
  TcpNode node(node_options);
  TcpTransport transport(node);
  Worker worker(options_of(command), shards, transport, node_log);
  serving = &worker;
  signals.send_to(worker);
  std::printf("listening on port %d\n", int{node.port()});
  std::fflush(stdout);
  worker.wait_until_left();
  serving = nullptr;
}

}  // namespace eindb
