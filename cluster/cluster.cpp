#include "cluster/cluster.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <semaphore>
#include <set>
#include <thread>
#include <utility>

#include "cluster/remote_shards.hpp"
#include "cluster/standby_stream.hpp"
#include "cluster/statement_at_ranks.hpp"
#include "cluster/worker_connection.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "common/memory_wait.hpp"

namespace eindb {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTurnPoll{5};
// The interval between probes of a broken pair.
constexpr milliseconds kProbePause{5000};
// Each statement takes half of a worker's remaining memory: the fourth gets a sixteenth.
constexpr std::ptrdiff_t kMostStatements = 4;

using Turns = std::counting_semaphore<kMostStatements>;

/// One of the slots for running statements.
class Turn {
 public:
  Turn(Turns& turns, const Cancellation& cancellation) : turns_(turns) {
    while (!turns_.try_acquire_for(kTurnPoll)) cancellation.check();
  }
  ~Turn() { turns_.release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Turns& turns_;
};

void check_addresses(const std::vector<std::string>& workers) {
  auto sorted = workers;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw Error(ErrorKind::Value, "the worker " + *twice + " is named twice", std::nullopt, "name each worker once");
}

void check_standbys(const std::vector<std::string>& standbys, const std::vector<std::string>& workers) {
  for (const auto& standby : standbys)
    if (std::find(workers.begin(), workers.end(), standby) == workers.end())
      throw Error(ErrorKind::Value, "the standby " + standby + " is none of the workers", std::nullopt,
                  "name it in --workers, too, by the same address");
}

}  // namespace

class Cluster::Impl {
 public:
  Impl(ClusterOptions options, Connector& connector, ExchangeFactory& exchanges, NodeLog& log);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::vector<WorkerStatus> workers() const;
  std::vector<WorkerStatus> wait_for_workers(milliseconds at_most);
  std::vector<RankReport> run(const ClusterStatement& statement, const Cancellation& cancellation,
                              const OwnPart& own_part);
  ShardAccess& shards() { return shards_; }
  DamagedCopies& damaged_copies() { return damaged_; }
  MoveProgress& move_progress() { return progress_; }
  const MoveOptions& move_options() const { return moves_; }
  NodeLog& log() { return log_; }
  void wake_keeper() noexcept;
  void begin(ClusterDatabase database);
  void drain(std::string_view address) const;
  std::vector<ContentId> stored_contents(DataId worker) const;
  void claim(std::int64_t database, const std::vector<std::int64_t>& former) const;
  bool coordinator_computes() const { return coordinator_computes_; }
  Transport transport() const { return exchanges_.transport(); }
  std::vector<BrokenPair> broken_pairs() const;

 private:
  /// A check whether data passes between two workers. Null stands for this process.
  struct Probe {
    WorkerConnection* from;
    WorkerConnection* to;
  };

  void examine(const std::vector<StatementWatch::LostPeer>& lost, const std::vector<WorkerConnection*>& ranks);
  std::size_t position_of(const WorkerConnection& worker) const;
  static DataId data_of(const WorkerConnection* worker);
  void probe(const std::vector<Probe>& probes);
  static std::vector<std::string> addresses_of(const std::vector<WorkerConnection*>& workers);
  static std::vector<std::optional<Error>> errors_of(WorkerConnection::Request& request);
  void note_probe(const WorkerConnection* from, const WorkerConnection* to, const std::optional<Error>& error);
  void log_pair(const WorkerConnection* one, const WorkerConnection* other);
  void note_joined(WorkerConnection& worker);
  void share_memory(const std::string& pool);
  void probe_until_end() noexcept;
  std::vector<Probe> due_probes(const std::set<WorkerConnection*>& joined) const;
  void admit(const std::string& address, const control::Welcome& welcome);
  void require_history(const std::string& address, const control::Welcome& welcome);
  bool catch_up(WorkerConnection& worker);
  WorkerConnection& connection_to(DataId data) const;
  std::vector<WorkerConnection*> connections_of(const ClusterStatement& statement) const;
  void keep_until_end() noexcept;

  DamagedCopies damaged_;
  MoveProgress progress_;
  const ClusterContext context_;
  ExchangeFactory& exchanges_;
  NodeLog& log_;
  const bool coordinator_computes_;
  const MoveOptions moves_;
  Turns turns_;
  std::mutex admission_;  // guards the members below, up to directories_
  bool has_begun_ = false;
  ShardHistory history_;
  std::optional<Error> refusal_;               // of the database's file, by all workers
  std::map<std::string, DataId> directories_;  // last known data directory at each address
  std::mutex settling_;                        // serialises calls of settler_
  ShardDecider decider_;                       // these functions are constant once connections exist
  ShardSettler settler_;
  RemoteShards::Connections connections_;
  RemoteShards shards_{connections_, damaged_, log_};
  BrokenPairs pairs_;
  Cancellation ending_;  // cancels probes
  std::mutex sharing_;   // serialises updates of shares
  std::mutex probing_;   // guards the members below, up to the thread
  std::condition_variable joins_;
  std::set<WorkerConnection*> joined_;  // joined workers not probed yet
  bool ends_ = false;
  std::thread prober_;  // not started if the coordinator computes
  ShardKeeper keeper_;
  std::mutex keeping_;  // guards the members below, up to the thread
  std::condition_variable keeper_wakes_;
  bool is_woken_ = false;
  bool keeper_ends_ = false;
  std::thread keeper_thread_;  // not started without a keeper
  const std::vector<std::string> standby_addresses_;
  const std::shared_ptr<Standbys> standbys_ = std::make_shared<Standbys>();
};

// ---- A statement ---------------------------------------------------------------------------------------------------

// By rank; null: this process.
std::vector<WorkerConnection*> Cluster::Impl::connections_of(const ClusterStatement& statement) const {
  CHECK(statement.workers.size() + 1 == statement.plan.ranks, "a worker for every rank but the coordinator's");
  std::vector<WorkerConnection*> connections;
  for (const auto data : statement.workers) connections.push_back(&connection_to(data));
  connections.insert(connections.begin() + static_cast<std::ptrdiff_t>(statement.plan.coordinator), nullptr);
  return connections;
}

std::vector<RankReport> Cluster::Impl::run(const ClusterStatement& statement, const Cancellation& cancellation,
                                           const OwnPart& own_part) {
  const Turn turn(turns_, cancellation);
  StatementAtRanks run(exchanges_, context_.heartbeat, statement, connections_of(statement), cancellation);
  try {
    return std::move(run).run(own_part);
  } catch (const Error& error) {
    const CancellationScope scope(cancellation);
    if (error.kind() == ErrorKind::WorkerLost) examine(run.watch().lost_peers(), run.connections());
    throw;
  }
}

// ---- Pairs of workers that do not reach each other -----------------------------------------------------------------

// After ranks have failed to reach each other, probes all pairs, since others may be broken too.
void Cluster::Impl::examine(const std::vector<StatementWatch::LostPeer>& lost,
                            const std::vector<WorkerConnection*>& ranks) {
  if (lost.empty()) return;
  const auto data = [&](Rank rank) { return data_of(ranks[rank]); };
  for (const auto& [rank, peer, reason] : lost)
    if (peer.is_silent && rank != peer.peer && pairs_.note_failure(data(rank), data(peer.peer), reason))
      log_pair(ranks[rank], ranks[peer.peer]);
  std::vector<Probe> probes;
  for (const auto& first : connections_) {
    if (std::find(ranks.begin(), ranks.end(), first.get()) == ranks.end()) continue;
    probes.push_back({nullptr, first.get()});
    for (auto* second : ranks)
      if (second != nullptr && position_of(*first) < position_of(*second)) probes.push_back({second, first.get()});
  }
  probe(probes);
}

// Of two workers, the one with the higher position connects to the other, as for the ranks of a statement.
std::size_t Cluster::Impl::position_of(const WorkerConnection& worker) const {
  const auto found = std::find_if(connections_.begin(), connections_.end(),
                                  [&](const auto& connection) { return connection.get() == &worker; });
  return static_cast<std::size_t>(found - connections_.begin());
}

DataId Cluster::Impl::data_of(const WorkerConnection* worker) { return worker == nullptr ? DataId{} : worker->data(); }

// Runs all probes concurrently. If a worker is lost meanwhile, the state of its pairs does not change.
void Cluster::Impl::probe(const std::vector<Probe>& probes) {
  std::map<WorkerConnection*, std::vector<WorkerConnection*>> targets;
  for (const auto& [from, to] : probes) targets[from].push_back(to);
  std::map<WorkerConnection*, WorkerConnection::Request> requests;
  for (const auto& [from, to] : targets) {
    if (from == nullptr) continue;
    try {
      requests.emplace(from, from->request([&, &to = to](std::uint64_t request) {
        return control::Probe{request, addresses_of(to)};
      }));
    } catch (const Error&) {
    }
  }
  for (const auto& [from, to] : targets) {
    try {
      std::vector<std::optional<Error>> errors;
      if (from == nullptr) errors = exchanges_.probe(addresses_of(to));
      else if (const auto request = requests.find(from); request != requests.end()) errors = errors_of(request->second);
      for (std::size_t n = 0; n < std::min(errors.size(), to.size()); ++n) note_probe(from, to[n], errors[n]);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Cancelled) throw;
    }
  }
}

std::vector<std::string> Cluster::Impl::addresses_of(const std::vector<WorkerConnection*>& workers) {
  std::vector<std::string> addresses;
  for (const auto* worker : workers) addresses.push_back(worker->data_address());
  return addresses;
}

std::vector<std::optional<Error>> Cluster::Impl::errors_of(WorkerConnection::Request& request) {
  std::vector<std::optional<Error>> errors;
  for (const auto& error : request.get<control::Probed>().errors)
    errors.push_back(error ? std::optional(error->error()) : std::nullopt);
  return errors;
}

// A failed probe says nothing if either worker is lost or about to leave.
void Cluster::Impl::note_probe(const WorkerConnection* from, const WorkerConnection* to,
                               const std::optional<Error>& error) {
  const auto is_there = [](const WorkerConnection* worker) {
    return worker == nullptr || worker->status().state == WorkerState::Up;
  };
  if (error && (!is_there(from) || !is_there(to))) return;
  if (pairs_.note_probe(data_of(from), data_of(to), error)) log_pair(from, to);
}

void Cluster::Impl::log_pair(const WorkerConnection* one, const WorkerConnection* other) {
  const auto name = [](const WorkerConnection* worker) {
    return worker == nullptr ? "coordinator" : worker->address();
  };
  for (const auto& pair : pairs_.all())
    if ((pair.one == data_of(one) && pair.other == data_of(other)) ||
        (pair.one == data_of(other) && pair.other == data_of(one)))
      return log_.write(NodeLog::Level::Warning, "no data between workers", name(one),
                        name(other) + ": " + pair.reason + "; statements leave one of them out. Name workers in " +
                            "--workers by addresses at which they reach each other, and open their ports between them");
  log_.write(NodeLog::Level::Info, "data between workers again", name(one), name(other));
}

void Cluster::Impl::note_joined(WorkerConnection& worker) {
  share_memory(worker.memory_pool());
  pairs_.forget(worker.data());
  const std::lock_guard lock(probing_);
  joined_.insert(&worker);
  joins_.notify_all();
}

// Lost workers count too, since they return to their part.
void Cluster::Impl::share_memory(const std::string& pool) {
  if (pool.empty()) return;
  const std::lock_guard lock(sharing_);
  std::vector<WorkerConnection*> sharers;
  for (const auto& connection : connections_)
    if (connection->memory_pool() == pool) sharers.push_back(connection.get());
  for (auto* sharer : sharers) sharer->share_memory_among(static_cast<std::uint32_t>(sharers.size()));
}

// Probes workers that join with all others, and broken pairs periodically.
void Cluster::Impl::probe_until_end() noexcept {
  const CancellationScope scope(ending_);
  std::unique_lock lock(probing_);
  while (!ends_) {
    joins_.wait_for(lock, kProbePause, [this] { return ends_ || !joined_.empty(); });
    const auto joined = std::exchange(joined_, {});
    lock.unlock();
    try {
      probe(due_probes(joined));
    } catch (const std::exception&) {  // at the end, or tried again later
    }
    lock.lock();
  }
}

std::vector<Cluster::Impl::Probe> Cluster::Impl::due_probes(const std::set<WorkerConnection*>& joined) const {
  const auto broken = pairs_.all();
  const auto is_broken = [&](const WorkerConnection* one, const WorkerConnection* other) {
    return std::any_of(broken.begin(), broken.end(), [&](const BrokenPair& pair) {
      return (pair.one == data_of(one) && pair.other == data_of(other)) ||
             (pair.one == data_of(other) && pair.other == data_of(one));
    });
  };
  std::vector<WorkerConnection*> up;
  for (const auto& connection : connections_)
    if (connection->status().state == WorkerState::Up) up.push_back(connection.get());
  std::vector<Probe> probes;
  for (std::size_t later = 0; later < up.size(); ++later) {
    if (is_broken(nullptr, up[later])) probes.push_back({nullptr, up[later]});
    for (std::size_t n = 0; n < later; ++n)
      if (joined.contains(up[n]) || joined.contains(up[later]) || is_broken(up[n], up[later]))
        probes.push_back({up[later], up[n]});
  }
  return probes;
}

std::vector<BrokenPair> Cluster::Impl::broken_pairs() const { return pairs_.all(); }

// ---- Membership ----------------------------------------------------------------------------------------------------

Cluster::Impl::Impl(ClusterOptions options, Connector& connector, ExchangeFactory& exchanges, NodeLog& log)
    : context_{connector,
               log,
               damaged_,
               options.heartbeat,
               [this](const std::string& address, const control::Welcome& welcome) { admit(address, welcome); },
               [this](WorkerConnection& worker) { note_joined(worker); },
               [this](WorkerConnection& worker) { return catch_up(worker); }},
      exchanges_(exchanges),
      log_(log),
      coordinator_computes_(options.coordinator_computes),
      moves_(options.moves),
      turns_(exchanges.is_exclusive() ? 1 : kMostStatements),
      standby_addresses_(std::move(options.standbys)) {
  check_addresses(options.workers);
  check_addresses(standby_addresses_);
  check_standbys(standby_addresses_, options.workers);
  if (!standby_addresses_.empty()) shards_.set_log_follower(standbys_);
  for (auto& address : options.workers)
    connections_.push_back(std::make_unique<WorkerConnection>(context_, std::move(address)));
}

// A connection whose worker has just joined may use any other connection in its thread.
Cluster::Impl::~Impl() {
  {
    const std::lock_guard lock(probing_);
    ends_ = true;
    joins_.notify_all();
  }
  ending_.request();
  {
    const std::lock_guard lock(keeping_);
    keeper_ends_ = true;
    keeper_wakes_.notify_all();
  }
  if (keeper_thread_.joinable()) keeper_thread_.join();
  if (prober_.joinable()) prober_.join();
  standbys_->end();
  for (const auto& connection : connections_) connection->close();
  for (const auto& connection : connections_) connection->wait_until_closed();
}

void Cluster::Impl::begin(ClusterDatabase database) {
  CHECK((database.decider == nullptr) == (database.settler == nullptr), "who decides also settles");
  const std::lock_guard lock(admission_);
  if (has_begun_) return;
  if (database.transient && !standby_addresses_.empty())
    throw Error(ErrorKind::Value, "a database in memory has no file that a standby could keep", std::nullopt,
                "leave out --standby, or give the database a file");
  has_begun_ = true;
  decider_ = std::move(database.decider);
  settler_ = std::move(database.settler);
  history_ = std::move(database.history);
  std::map<std::string, DataId> known;
  for (const auto& [data, address] : database.known) known[address] = data;
  // A directory may have moved if its former address is not in use.
  for (const auto& connection : connections_)
    if (const auto found = known.find(connection->address()); found != known.end()) directories_.insert(*found);
  for (const auto& connection : connections_)
    connection->start(database.identity, database.former, known[connection->address()], database.transient);
  if (!coordinator_computes_) prober_ = std::thread([this] { probe_until_end(); });
  Standbys::Streams streams;
  for (const auto& connection : connections_)
    if (std::find(standby_addresses_.begin(), standby_addresses_.end(), connection->address()) !=
            standby_addresses_.end() &&
        !database.path.empty())
      streams.push_back(std::make_unique<StandbyStream>(database.path, *connection, log_));
  standbys_->begin(std::move(streams));
  keeper_ = std::move(database.keeper);
  if (keeper_) keeper_thread_ = std::thread([this] { keep_until_end(); });
}

// A step that fails is tried again; its error is logged once.
void Cluster::Impl::keep_until_end() noexcept {
  const CancellationScope scope(ending_);
  std::string logged;
  std::unique_lock lock(keeping_);
  while (!keeper_ends_) {
    lock.unlock();
    auto pause = context_.heartbeat;
    try {
      pause = keeper_(shards_, workers(), context_.heartbeat);
      logged.clear();
    } catch (const std::exception& error) {
      when_there_is_memory([&] {
        const auto* known = dynamic_cast<const Error*>(&error);
        if (known != nullptr && known->kind() == ErrorKind::Cancelled) return;  // the end of this process
        if (std::exchange(logged, error.what()) != error.what())
          log_.write(NodeLog::Level::Warning, "tiles not moved", "", logged);
      });
    }
    lock.lock();
    keeper_wakes_.wait_for(lock, pause, [this] { return keeper_ends_ || is_woken_; });
    is_woken_ = false;
  }
}

void Cluster::Impl::wake_keeper() noexcept {
  const std::lock_guard lock(keeping_);
  is_woken_ = true;
  keeper_wakes_.notify_all();
}

// Rows of tensors refer to a worker by its data directory.
void Cluster::Impl::admit(const std::string& address, const control::Welcome& welcome) {
  const auto data = welcome.data;
  const std::lock_guard lock(admission_);
  for (const auto& [other, known] : directories_) {
    if (other != address && known == data)
      throw Error(ErrorKind::Value, "it has the data directory of the worker " + other, std::nullopt,
                  "give each worker a directory of its own");
    if (other == address && known != data)
      throw Error(ErrorKind::Value, "its data directory is not the one that was there before", std::nullopt,
                  "start it with the --data that it had, or under another address");
  }
  require_history(address, welcome);
  directories_[address] = data;
}

// Call with admission_ held. If one worker has continued without this file, tiles may be missing at all workers.
void Cluster::Impl::require_history(const std::string& address, const control::Welcome& welcome) {
  if (refusal_) throw Error(*refusal_);
  if (!history_ || history_(welcome.epoch)) return;
  refusal_ = Error(ErrorKind::Conflict,
                   "the workers' tiles belong to another state of the database than this file is: worker " + address +
                       " has served a later one (epoch " + std::to_string(welcome.epoch.number) +
                       "), of which this file, an older copy, knows nothing",
                   std::nullopt, "use the file that was used last; or, if it is gone, take its place: eindb take-over");
  for (const auto& connection : connections_) connection->close(refusal_->message() + ": " + refusal_->hint());
  throw Error(*refusal_);
}

// The thread that settles decisions waits for all workers and for SQLite. So a worker that joins meanwhile learns what
// it has missed without waiting for that, and settles later.
bool Cluster::Impl::catch_up(WorkerConnection& worker) {
  if (!decider_) return true;
  try {
    const auto ask = [](std::uint64_t request) { return control::AskUndecided{request}; };
    const ShardWorker place{worker.data(), worker.address()};
    auto transactions = worker.ask<control::Undecided>(ask).transactions;
    const auto missed = shards_.missed_commits(place.data);
    transactions.insert(transactions.end(), missed.begin(), missed.end());
    for (const auto transaction : transactions) {
      const auto decision = decider_(transaction);
      if (!decision.committed) shards_.abort(place, transaction);
      else if (shards_.advance(place, decision.epoch); !shards_.commit(place, transaction, decision.kept)) return false;
    }
    const std::unique_lock settling(settling_, std::try_to_lock);
    return settling.owns_lock() && settler_(shards_);
  } catch (const std::exception& error) {
    log_.write(NodeLog::Level::Warning, "transactions without an end", worker.address(), error.what());
    return false;
  }
}

void Cluster::Impl::claim(std::int64_t database, const std::vector<std::int64_t>& former) const {
  for (const auto& connection : connections_) {
    if (!connection->is_up()) continue;
    connection->ask<control::Acknowledged>([&](std::uint64_t request) {
      return control::Claim{request, database, former};
    });
  }
}

std::vector<ContentId> Cluster::Impl::stored_contents(DataId worker) const {
  const auto ask = [](std::uint64_t request) { return control::AskContents{request}; };
  return connection_to(worker).ask<control::ContentList>(ask).contents;
}

WorkerConnection& Cluster::Impl::connection_to(DataId data) const {
  return shards_.connection_to({data, "of data directory " + std::to_string(number(data))});
}

std::vector<WorkerStatus> Cluster::Impl::workers() const {
  std::vector<WorkerStatus> statuses;
  for (const auto& connection : connections_) {
    auto& status = statuses.emplace_back(connection->status());
    status.to_move = progress_.leaving(status.data);
    status.damaged = progress_.unmendable(status.data);
    if (const auto* standby = standbys_->stream_to(status.address)) {
      status.standby = standby->state();
      status.standby_failure = standby->failure();
    }
  }
  std::map<DataId, std::string> names{{DataId{}, "the coordinator"}};
  for (const auto& status : statuses) names.emplace(status.data, status.address);
  for (const auto& pair : pairs_.all())
    for (auto& status : statuses)
      if (status.state == WorkerState::Up && (status.data == pair.one || status.data == pair.other))
        status.reason += (status.reason.empty() ? "no data between it and " : "; and ") +
                         names[status.data == pair.one ? pair.other : pair.one] + ": " + pair.reason;
  return statuses;
}

std::vector<WorkerStatus> Cluster::Impl::wait_for_workers(milliseconds at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  for (const auto& connection : connections_) connection->wait_for_attempt(end);
  standbys_->wait_for_attempt(end);
  const std::lock_guard lock(admission_);
  if (refusal_) throw Error(*refusal_);
  return workers();
}

void Cluster::Impl::drain(std::string_view address) const {
  for (const auto& connection : connections_)
    if (connection->address() == address) return connection->send(control::Drain{});
  throw Error(ErrorKind::UnknownName, "there is no worker " + std::string(address), std::nullopt,
              "SHOW WORKERS lists them");
}

Cluster::Cluster(ClusterOptions options, Connector& connector, ExchangeFactory& exchanges, NodeLog& log)
    : impl_(std::make_shared<Impl>(std::move(options), connector, exchanges, log)) {}
Cluster::~Cluster() = default;
std::vector<WorkerStatus> Cluster::workers() const { return impl_->workers(); }
std::vector<WorkerStatus> Cluster::wait_for_workers(milliseconds at_most) { return impl_->wait_for_workers(at_most); }
std::vector<RankReport> Cluster::run(const ClusterStatement& statement, const Cancellation& cancellation,
                                     const OwnPart& own_part) {
  return impl_->run(statement, cancellation, own_part);
}
std::shared_ptr<ShardAccess> Cluster::shards() { return {impl_, &impl_->shards()}; }
void Cluster::claim(std::int64_t database, const std::vector<std::int64_t>& former) { impl_->claim(database, former); }
std::vector<ContentId> Cluster::stored_contents(DataId worker) { return impl_->stored_contents(worker); }
DamagedCopies& Cluster::damaged_copies() const { return impl_->damaged_copies(); }
MoveProgress& Cluster::move_progress() { return impl_->move_progress(); }
const MoveProgress& Cluster::move_progress() const { return impl_->move_progress(); }
const MoveOptions& Cluster::move_options() const { return impl_->move_options(); }
NodeLog& Cluster::log() { return impl_->log(); }
void Cluster::wake_keeper() noexcept { impl_->wake_keeper(); }
void Cluster::begin(ClusterDatabase database) { impl_->begin(std::move(database)); }
bool Cluster::coordinator_computes() const { return impl_->coordinator_computes(); }
Transport Cluster::transport() const { return impl_->transport(); }
std::vector<BrokenPair> Cluster::broken_pairs() const { return impl_->broken_pairs(); }
void Cluster::drain(std::string_view address) { impl_->drain(address); }

}  // namespace eindb
