#include "cluster/statement_at_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

#include "cluster/peer_lost.hpp"
#include "cluster/plan_codec.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "common/memory_wait.hpp"

namespace eindb {
namespace {

using std::chrono::milliseconds;

// The longest time that the user of a cancelled statement waits for workers to end it.
constexpr milliseconds kPatienceOfCancelled{1000};

// The contents of the tiles that the rank holds.
std::vector<control::HeldContents> contents_at(Rank rank, const ClusterStatement& statement) {
  std::vector<control::HeldContents> at_rank(statement.holders.size());
  for (std::size_t list = 0; list < statement.holders.size(); ++list) {
    const auto& contents = statement.contents[list];
    if (contents.empty()) continue;
    ContentRuns held;
    statement.holders[list].for_each_run_of(
        rank, [&](const TileHolders::Run& run) { contents.copy(run.first, run.end, held); });
    at_rank[list] = control::HeldContents::of(held);
  }
  return at_rank;
}

}  // namespace

StatementAtRanks::StatementAtRanks(ExchangeFactory& exchanges, milliseconds heartbeat,
                                   const ClusterStatement& statement, std::vector<WorkerConnection*> connections,
                                   const Cancellation& cancellation)
    : exchanges_(exchanges),
      heartbeat_(heartbeat),
      statement_(statement),
      number_(exchanges.number_statement()),
      own_rank_(statement.plan.coordinator),
      watch_(statement.plan.ranks, cancellation),
      connections_(std::move(connections)) {
  CHECK(statement.holders.size() == statement.contents.size(), "contents for every list of holders");
  CHECK(own_rank_ < statement.plan.ranks, "the coordinator is a rank of the statement");
  CHECK(connections_.size() == statement.plan.ranks, "every rank but the coordinator's is a worker's");
  CHECK(statement.results.empty() || statement.results.size() == statement.plan.results.size(),
        "a statement that stores results says of each where");
}

StatementAtRanks::~StatementAtRanks() {
  for (auto* connection : connections_)
    if (connection != nullptr) connection->forget(number_);
}

std::vector<RankReport> StatementAtRanks::run(const OwnPart& own_part) && {
  try {
    start();
    take_part(own_part);
    watch_.wait();
    if (!watch_.has_failed()) return checked(std::move(watch_).reports());
    stop(RemoteError::of(watch_.failure()));
  } catch (const std::exception&) {
    stop(RemoteError::of(std::current_exception()));
    throw;
  }
  std::rethrow_exception(watch_.failure());
}

// Reports come from outside: their users look steps up by number.
std::vector<RankReport> StatementAtRanks::checked(std::vector<RankReport> reports) const {
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    if (reports[rank].profile.steps.size() == statement_.plan.steps.size()) continue;
    const auto* worker = rank < connections_.size() ? connections_[rank] : nullptr;
    throw Error(ErrorKind::Corrupt, (worker == nullptr ? std::string("a rank") : worker->address()) +
                                        " reports other steps than it was to run");
  }
  return reports;
}

// Sends the statement to all workers, unless one is lost.
void StatementAtRanks::start() {
  const CancellationScope scope(watch_.cancellation());
  const auto plan = encode_plan(statement_.plan, statement_.holders);
  const auto addresses = this->addresses();
  CHECK(addresses.size() == statement_.plan.ranks, "every rank has an address");
  for (Rank rank = 0; rank < connections_.size() && !watch_.has_failed(); ++rank)
    if (rank != own_rank_) start_at(rank, plan, addresses);
}

// Lets the watch abort the exchange while this lives.
class StatementAtRanks::Aborted {
 public:
  Aborted(StatementWatch& watch, Exchange& exchange) : watch_(watch) { watch_.use(&exchange); }
  ~Aborted() { watch_.use(nullptr); }
  Aborted(const Aborted&) = delete;
  Aborted& operator=(const Aborted&) = delete;

 private:
  StatementWatch& watch_;
};

void StatementAtRanks::take_part(const OwnPart& own_part) {
  if (watch_.has_failed()) return;
  const auto note_failure = [&](const std::exception_ptr& failure) {
    watch_.failed_here(own_rank_, RemoteError::of(failure).error(), lost_peer(failure));
  };
  try {
    const CancellationScope scope(watch_.cancellation());
    const auto exchange = exchanges_.open({number_, own_rank_, own_rank_, addresses()}, watch_.cancellation());
    const Aborted aborted(watch_, *exchange);
    try {
      watch_.ended(own_rank_, {own_part(*exchange, watch_.cancellation()), {}});
    } catch (const std::exception&) {
      // Noted before the others hear of it, since they fail by it and report that.
      note_failure(std::current_exception());
      exchange->abort(std::current_exception());
    }
  } catch (const std::exception&) {
    note_failure(std::current_exception());
  }
}

std::vector<std::string> StatementAtRanks::addresses() const {
  std::vector<std::string> addresses;
  for (const auto* connection : connections_)
    addresses.push_back(connection == nullptr ? exchanges_.address() : connection->data_address());
  return addresses;
}

void StatementAtRanks::start_at(Rank rank, const std::vector<std::byte>& plan,
                                const std::vector<std::string>& addresses) {
  auto& connection = *connections_[rank];
  try {
    connection.begin(number_, rank, watch_);
    connection.send(control::Run{number_, rank, addresses, plan, statement_.threads, statement_.memory_limit,
                                 contents_at(rank, statement_), statement_.results});
  } catch (const Error& error) {
    watch_.lost(rank, error);
  }
}

// Stops the statement at all ranks where it runs, and waits until it has ended there. A silent worker is waited for
// until it counts as lost, or only for a short time once the statement was cancelled.
void StatementAtRanks::stop(const RemoteError& why) {
  for (std::size_t n = 0; n < connections_.size(); ++n) {
    const auto rank = static_cast<Rank>(n);
    if (rank == own_rank_ || watch_.has_ended(rank)) continue;
    try {
      when_there_is_memory([&] { connections_[rank]->send(control::Stop{number_, why}); });
    } catch (const Error& error) {
      watch_.lost(rank, error);
    }
  }
  const auto patience = kMissedHeartbeats * heartbeat_;
  watch_.wait_for_rest(patience, std::min<milliseconds>(patience, kPatienceOfCancelled));
}

}  // namespace eindb
