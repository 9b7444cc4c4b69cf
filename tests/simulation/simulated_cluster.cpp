#include "tests/simulation/simulated_cluster.hpp"

#include <fstream>
#include <sstream>
#include <utility>

namespace eindb::simulation {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMemory = std::int64_t{64} << 20U;

/// Objects created by the calling thread belong to the host.
class AtHost {
 public:
  explicit AtHost(Host& host) : before_(own_host()) { set_own_host(&host); }
  ~AtHost() { set_own_host(before_); }
  AtHost(const AtHost&) = delete;
  AtHost& operator=(const AtHost&) = delete;

 private:
  Host* before_;
};

// A restarted process creates its own index of the log (-shm) and its own reserve.
bool is_kept(const fs::path& file) {
  const auto name = file.filename().string();
  return name != "reserve" && !name.ends_with("-shm");
}

std::string bytes_of(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

void keep_files(const fs::path& from, const fs::path& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(from))
    if (entry.is_regular_file() && is_kept(entry.path()))
      std::ofstream(to / entry.path().filename(), std::ios::binary) << bytes_of(entry.path());
}

// Existing files keep their inodes, since a database's file knows its own.
void restore_files(const fs::path& from, const fs::path& to) {
  for (const auto& entry : fs::directory_iterator(to))
    if (!fs::exists(from / entry.path().filename())) fs::remove_all(entry.path());
  for (const auto& entry : fs::directory_iterator(from))
    std::ofstream(to / entry.path().filename(), std::ios::binary) << bytes_of(entry.path());
}

fs::path image_of(const fs::path& folder) { return folder.string() + "-image"; }

WorkerOptions worker_options(const fs::path& folder) {
  WorkerOptions options;
  options.program = "simulated";
  options.memory_limit = kMemory;
  options.scratch_directory = folder.string();
  return options;
}

}  // namespace

void TracedLog::write(Level, std::string_view event, std::string_view node, std::string_view detail) noexcept {
  const auto* const host = own_host();
  std::ostringstream line;
  line.precision(6);
  line << std::fixed << static_cast<double>(now()) / kSecond << " at " << (host == nullptr ? -1 : host->place) << ": "
       << event << " " << node << " " << detail;
  trace(event, host == nullptr ? -1 : host->place);
  lines_.push_back(line.str());
}

// In the order of construction: later members use earlier ones.
struct SimulatedCluster::WorkerProcess {
  WorkerProcess(Host& host, const fs::path& folder, const std::string& address, NodeLog& log)
      : host(host),
        shards(folder.string()),
        node(options(address, log)),
        transport(node),
        worker(worker_options(folder), shards, transport, log) {}

  TcpNodeOptions options(const std::string& address, NodeLog& log) {
    TcpNodeOptions out;
    out.name = "worker";
    out.listen = address;
    out.on_channel = [this](std::unique_ptr<Channel> channel, const std::string&) { worker.serve(std::move(channel)); };
    out.log = [&log](std::string_view line) { log.write(NodeLog::Level::Warning, "connection", "", line); };
    return out;
  }

  Host& host;
  ShardFile shards;
  TcpNode node;
  TcpTransport transport;
  Worker worker;
};

SimulatedCluster::SimulatedCluster(fs::path folder, std::size_t workers)
    : folder_(std::move(folder)), addresses_(workers, "127.0.0.1:0"), workers_(workers) {
  fs::create_directories(folder_ / "database");
  for (std::size_t n = 0; n < workers; ++n) {
    fs::create_directories(path_of_worker(n));
    start_worker(n);
  }
}

SimulatedCluster::~SimulatedCluster() = default;

std::string SimulatedCluster::path_of_worker(std::size_t n) const {
  return (folder_ / ("worker-" + std::to_string(n))).string();
}

Host& SimulatedCluster::new_host(int place) {
  hosts_.push_back(std::make_unique<Host>(Host{.place = place}));
  boot(*hosts_.back());
  return *hosts_.back();
}

void SimulatedCluster::start_worker(std::size_t n) {
  const AtHost there(new_host(place_of_worker(n)));
  workers_[n] = std::make_unique<WorkerProcess>(*own_host(), path_of_worker(n), addresses_[n], log_);
  addresses_[n] = "127.0.0.1:" + std::to_string(workers_[n]->node.port());
  log_.write(NodeLog::Level::Info, "started", "", "");
}

void SimulatedCluster::crash_worker(std::size_t n, bool is_silent) {
  auto process = std::move(workers_[n]);
  const AtHost there(process->host);
  log_.write(NodeLog::Level::Info, is_silent ? "machine lost" : "killed", "", "");
  const fs::path folder = path_of_worker(n);
  keep_files(folder, image_of(folder));
  crash(process->host, is_silent);
  process.reset();
  restore_files(image_of(folder), folder);
}

void SimulatedCluster::start_coordinator() {
  {
    const std::lock_guard lock(crash_mutex_);
    has_crashed_ = false;
  }
  coordinator_ = &new_host(kCoordinator);
  set_own_host(coordinator_);
  TcpClusterOptions options;
  options.moves.bytes_per_second = 0;  // a thread that looks at the file again and again has no place in a trace
  options.workers = addresses_;
  cluster_ = std::make_unique<TcpCluster>(options, log_);
  SessionOptions session;
  session.cluster = {std::shared_ptr<void>(), &cluster_->cluster()};
  session.small_statements = SmallStatements::Workers;
  auto made = std::make_unique<Session>(path_of_database(), session);
  const std::lock_guard lock(crash_mutex_);
  session_ = std::move(made);
}

void SimulatedCluster::crash_coordinator(bool is_silent) {
  const std::lock_guard lock(crash_mutex_);
  if (has_crashed_ || session_ == nullptr) return;
  has_crashed_ = true;
  const AtHost there(*coordinator_);
  log_.write(NodeLog::Level::Info, is_silent ? "machine lost" : "killed", "", "");
  const auto folder = folder_ / "database";
  keep_files(folder, image_of(folder));
  crash(*coordinator_, is_silent);
  session_->cancel();
}

void SimulatedCluster::cancel() {
  const std::lock_guard lock(crash_mutex_);
  if (session_ != nullptr) session_->cancel();
}

void SimulatedCluster::stop_coordinator() {
  std::unique_ptr<Session> ended;
  {
    const std::lock_guard lock(crash_mutex_);
    ended = std::move(session_);
  }
  ended.reset();
  cluster_.reset();
}

void SimulatedCluster::bury_coordinator() {
  stop_coordinator();
  const auto folder = folder_ / "database";
  restore_files(image_of(folder), folder);
}

void SimulatedCluster::stop_workers() {
  for (auto& worker : workers_) {
    if (worker == nullptr) continue;
    const AtHost there(worker->host);
    worker.reset();
  }
}

}  // namespace eindb::simulation
