#include "cluster/cluster.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <semaphore>
#include <utility>

#include "cluster/plan_codec.hpp"
#include "cluster/remote_shards.hpp"
#include "cluster/statement_watch.hpp"
#include "cluster/worker_connection.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPoll{5};
// Each takes half of what a worker has left of its memory: with so many the last has a sixteenth.
constexpr std::ptrdiff_t kMostStatements = 4;

using Turns = std::counting_semaphore<kMostStatements>;

/// One of the statements that may run, from when it is its turn.
class Turn {
 public:
  Turn(Turns& turns, const Cancellation& cancellation) : turns_(turns) {
    while (!turns_.try_acquire_for(kPoll)) cancellation.check();
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

// The contents of the tiles that the rank holds.
std::vector<std::vector<ContentId>> contents_at(Rank rank, const ClusterStatement& statement) {
  std::vector<std::vector<ContentId>> at_rank(statement.holders.size());
  for (std::size_t list = 0; list < statement.holders.size(); ++list) {
    const auto& contents = statement.contents[list];
    if (contents.empty()) continue;
    const auto& holders = statement.holders[list];
    CHECK(contents.size() == static_cast<std::size_t>(holders.tile_count()), "every tile at workers has a content");
    for (std::int64_t tile = 0; tile < holders.tile_count(); ++tile) {
      const auto ranks = holders.of(tile);
      if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end())
        at_rank[list].push_back(contents[static_cast<std::size_t>(tile)]);
    }
  }
  return at_rank;
}

}  // namespace

class Cluster::Impl {
 public:
  Impl(ClusterOptions options, Connector& connector, ExchangeFactory& exchanges, NodeLog& log);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::vector<WorkerStatus> workers() const;
  std::vector<WorkerStatus> wait_for_workers(milliseconds at_most) const;
  std::vector<RankReport> run(const ClusterStatement& statement, const Cancellation& cancellation,
                              const OwnPart& own_part);
  ShardAccess& shards() { return shards_; }
  void begin(ClusterDatabase database);
  void drain(std::string_view address) const;
  bool coordinator_computes() const { return coordinator_computes_; }

 private:
  class Run;

  void admit(const std::string& address, DataId data);
  bool catch_up(WorkerConnection& worker);
  WorkerConnection& connection_to(DataId data) const;

  const ClusterContext context_;
  ExchangeFactory& exchanges_;
  NodeLog& log_;
  const bool coordinator_computes_;
  Turns turns_;
  std::mutex admission_;  // guards the two that follow
  bool has_begun_ = false;
  std::map<std::string, DataId> directories_;  // that were seen at each address
  std::mutex decisions_;                       // one asks at a time
  ShardDecider decider_;                       // do not change any more when connections are there
  ShardSettler settler_;
  RemoteShards::Connections connections_;
  RemoteShards shards_{connections_};
};

// ---- A statement ---------------------------------------------------------------------------------------------------

// One statement at all ranks, from the caller's thread.
class Cluster::Impl::Run {
 public:
  Run(Impl& cluster, const ClusterStatement& statement, const Cancellation& cancellation)
      : cluster_(cluster),
        statement_(statement),
        number_(cluster.exchanges_.number_statement()),
        own_rank_(statement.plan.coordinator),
        watch_(statement.plan.ranks, cancellation) {
    CHECK(statement.workers.size() + 1 == statement.plan.ranks, "a worker for every rank but the coordinator's");
    CHECK(statement.holders.size() == statement.contents.size(), "contents for every list of holders");
    for (Rank rank = 0; rank < statement.plan.ranks; ++rank)
      connections_.push_back(rank == own_rank_ ? nullptr : &cluster.connection_to(worker_at(rank)));
  }
  ~Run() {
    for (auto* connection : connections_)
      if (connection != nullptr) connection->forget(number_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // To all workers, as long as none is lost.
  void start() {
    const auto plan = encode_plan(statement_.plan, statement_.holders);
    const auto addresses = this->addresses();
    for (Rank rank = 0; rank < connections_.size() && !watch_.has_failed(); ++rank)
      if (rank != own_rank_) start_at(rank, plan, addresses);
  }

  void take_part(const OwnPart& own_part) {
    if (watch_.has_failed()) return;
    try {
      const CancellationScope scope(watch_.cancellation());
      const auto exchange =
          cluster_.exchanges_.open({number_, own_rank_, own_rank_, addresses()}, watch_.cancellation());
      const Aborted aborted(watch_, *exchange);
      try {
        watch_.ended(own_rank_, {own_part(*exchange, watch_.cancellation()), {}});
      } catch (...) {
        exchange->abort(std::current_exception());
        throw;
      }
    } catch (const std::exception&) {
      watch_.failed_here(own_rank_, RemoteError::of(std::current_exception()).error());
    }
  }

  std::vector<RankReport> finish() && {
    try {
      watch_.wait();
      if (!watch_.has_failed()) return std::move(watch_).reports();
      stop(RemoteError::of(watch_.failure()));
    } catch (const Error&) {
      stop(RemoteError::of(std::current_exception()));
      throw;
    }
    std::rethrow_exception(watch_.failure());
  }

 private:
  // The watch may abort the exchange for as long as this lives.
  class Aborted {
   public:
    Aborted(StatementWatch& watch, Exchange& exchange) : watch_(watch) { watch_.use(&exchange); }
    ~Aborted() { watch_.use(nullptr); }
    Aborted(const Aborted&) = delete;
    Aborted& operator=(const Aborted&) = delete;

   private:
    StatementWatch& watch_;
  };

  DataId worker_at(Rank rank) const { return statement_.workers[rank < own_rank_ ? rank : rank - std::size_t{1}]; }

  std::vector<std::string> addresses() const {
    std::vector<std::string> addresses;
    for (const auto* connection : connections_)
      addresses.push_back(connection == nullptr ? cluster_.exchanges_.address() : connection->data_address());
    return addresses;
  }

  void start_at(Rank rank, const std::vector<std::byte>& plan, const std::vector<std::string>& addresses) {
    auto& connection = *connections_[rank];
    try {
      connection.begin(number_, rank, watch_);
      connection.send(control::Run{number_, rank, addresses, plan, statement_.threads, statement_.memory_limit,
                                   contents_at(rank, statement_), statement_.results});
    } catch (const Error& error) {
      watch_.lost(rank, error);
    }
  }

  // Everywhere where it has not ended, and waits until it has: for a worker that says nothing of it only until it is
  // lost.
  void stop(const RemoteError& why) {
    for (std::size_t n = 0; n < connections_.size(); ++n) {
      const auto rank = static_cast<Rank>(n);
      if (rank == own_rank_ || watch_.has_ended(rank)) continue;
      try {
        connections_[rank]->send(control::Stop{number_, why});
      } catch (const Error& error) {
        watch_.lost(rank, error);
      }
    }
    watch_.wait_for_rest(kMissedHeartbeats * cluster_.context_.heartbeat);
  }

  Impl& cluster_;
  const ClusterStatement& statement_;
  const std::uint64_t number_;
  const Rank own_rank_;
  StatementWatch watch_;
  std::vector<WorkerConnection*> connections_;  // by rank; null: this process
};

std::vector<RankReport> Cluster::Impl::run(const ClusterStatement& statement, const Cancellation& cancellation,
                                           const OwnPart& own_part) {
  const Turn turn(turns_, cancellation);
  Run run(*this, statement, cancellation);
  run.start();
  run.take_part(own_part);
  return std::move(run).finish();
}

// ---- Membership ----------------------------------------------------------------------------------------------------

Cluster::Impl::Impl(ClusterOptions options, Connector& connector, ExchangeFactory& exchanges, NodeLog& log)
    : context_{connector, log, options.heartbeat,
               [this](const std::string& address, DataId data) { admit(address, data); },
               [this](WorkerConnection& worker) { return catch_up(worker); }},
      exchanges_(exchanges),
      log_(log),
      coordinator_computes_(options.coordinator_computes),
      turns_(exchanges.is_exclusive() ? 1 : kMostStatements) {
  check_addresses(options.workers);
  for (auto& address : options.workers)
    connections_.push_back(std::make_unique<WorkerConnection>(context_, std::move(address)));
}

// The thread of each connection may be at any of the others, when its worker has just joined.
Cluster::Impl::~Impl() {
  for (const auto& connection : connections_) connection->close();
  for (const auto& connection : connections_) connection->wait_until_closed();
}

void Cluster::Impl::begin(ClusterDatabase database) {
  const std::lock_guard lock(admission_);
  if (std::exchange(has_begun_, true)) return;
  decider_ = std::move(database.decider);
  settler_ = std::move(database.settler);
  std::map<std::string, DataId> known;
  for (const auto& [data, address] : database.known) known[address] = data;
  // Where no worker is any more, its directory may have moved.
  for (const auto& connection : connections_)
    if (const auto found = known.find(connection->address()); found != known.end()) directories_.insert(*found);
  for (const auto& connection : connections_) connection->start(database.identity, known[connection->address()]);
}

// What a tensor's rows say of a worker is said of its data directory.
void Cluster::Impl::admit(const std::string& address, DataId data) {
  const std::lock_guard lock(admission_);
  for (const auto& [other, known] : directories_) {
    if (other != address && known == data)
      throw Error(ErrorKind::Value, "it has the data directory of the worker " + other, std::nullopt,
                  "give each worker a directory of its own");
    if (other == address && known != data)
      throw Error(ErrorKind::Value, "its data directory is not the one that was there before", std::nullopt,
                  "start it with the --data that it had, or under another address");
  }
  directories_[address] = data;
}

bool Cluster::Impl::catch_up(WorkerConnection& worker) {
  if (!decider_) return true;
  const std::lock_guard lock(decisions_);
  try {
    const auto ask = [](std::uint64_t request) { return control::AskUndecided{request}; };
    const ShardWorker place{worker.data(), worker.address()};
    for (const auto transaction : worker.ask<control::Undecided>(ask).transactions) {
      const auto decision = decider_(transaction);
      if (!decision.committed) shards_.abort(place, transaction);
      else if (!shards_.commit(place, transaction, decision.kept)) return false;
    }
    return settler_(shards_);
  } catch (const std::exception& error) {
    log_.write(NodeLog::Level::Warning, "transactions without an end", worker.address(), error.what());
    return false;
  }
}

WorkerConnection& Cluster::Impl::connection_to(DataId data) const {
  return shards_.connection_to({data, "of data directory " + std::to_string(number(data))});
}

std::vector<WorkerStatus> Cluster::Impl::workers() const {
  std::vector<WorkerStatus> statuses;
  for (const auto& connection : connections_) statuses.push_back(connection->status());
  return statuses;
}

std::vector<WorkerStatus> Cluster::Impl::wait_for_workers(milliseconds at_most) const {
  const auto end = std::chrono::steady_clock::now() + at_most;
  for (const auto& connection : connections_) connection->wait_for_attempt(end);
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
void Cluster::begin(ClusterDatabase database) { impl_->begin(std::move(database)); }
bool Cluster::coordinator_computes() const { return impl_->coordinator_computes(); }
void Cluster::drain(std::string_view address) { impl_->drain(address); }

}  // namespace eindb
