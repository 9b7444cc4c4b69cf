#include "cluster/mpi_transport.hpp"

#include <chrono>
#include <numeric>
#include <utility>

#include "cluster/renumbered_exchange.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

using std::chrono::milliseconds;

constexpr Rank kCoordinator = 0;  // as an MPI rank
constexpr milliseconds kMpiTurnPoll{5};
// MPI itself detects dead ranks, so a busy rank may be silent for long.
constexpr milliseconds kHeartbeat = std::chrono::seconds(10);

std::string address_of(Rank rank) { return "rank " + std::to_string(rank); }

// The ranks of a plan as MPI ranks: workers first.
std::vector<Rank> ranks_of_mpi(std::size_t size) {
  CHECK(size > 0, "the coordinator is a rank of MPI");
  std::vector<Rank> ranks(size);
  std::iota(ranks.begin(), ranks.end(), Rank{1});
  ranks.back() = kCoordinator;
  return ranks;
}

struct HeldTurn {
  std::unique_lock<std::timed_mutex> turn;
};

}  // namespace

// An exchange that holds the turn. The turn is a base class, so that it is released last.
class MpiTransport::ExchangeInTurn final : private HeldTurn, public RenumberedExchange {
 public:
  ExchangeInTurn(std::unique_lock<std::timed_mutex> turn, std::unique_ptr<Exchange> exchange, std::size_t size)
      : HeldTurn{std::move(turn)}, RenumberedExchange(std::move(exchange), ranks_of_mpi(size)) {}
};

MpiTransport::MpiTransport(MpiWorld& world) : world_(world) {
  for (std::size_t n = 0; n < world.size(); ++n)
    if (const auto peer = static_cast<Rank>(n); peer != world.rank() && (is_coordinator() || peer == kCoordinator))
      lines_.try_emplace(address_of(peer), world.channel(peer));
  CHECK(lines_.size() == (is_coordinator() ? world.size() - 1 : 1),
        "there is a line between the coordinator and each worker");
}

MpiTransport::~MpiTransport() {
  if (!is_coordinator()) return;
  for (auto& [address, line] : lines_) line.hang_up();
}

ClusterOptions MpiTransport::cluster_options() const {
  ClusterOptions options;
  for (std::size_t n = 0; n < world_.size(); ++n)
    if (const auto rank = static_cast<Rank>(n); rank != kCoordinator) options.workers.push_back(address_of(rank));
  options.heartbeat = kHeartbeat;
  options.coordinator_computes = true;
  return options;
}

void MpiTransport::set_subject(std::string subject) {
  const std::lock_guard lock(mutex_);
  subject_ = std::move(subject);
}

std::optional<CallLine::Call> MpiTransport::next_coordinator() {
  CHECK(!is_coordinator(), "workers wait for the coordinator");
  return lines_.at(address_of(kCoordinator)).answer();
}

std::unique_ptr<Channel> MpiTransport::connect(const std::string& address, milliseconds /*timeout*/) {
  const auto line = lines_.find(address);
  CHECK(line != lines_.end(), "workers over MPI have the addresses of cluster_options()");
  const std::lock_guard lock(mutex_);
  return line->second.call(subject_);
}

std::unique_ptr<Exchange> MpiTransport::open(const ExchangeRequest& request, const Cancellation& cancellation) {
  const auto ranks = request.addresses.size();
  if (ranks != world_.size() || request.coordinator + std::size_t{1} != ranks)
    throw Error(ErrorKind::Unsupported, "a statement over MPI takes all " + std::to_string(world_.size()) + " ranks");
  std::unique_lock turn(turn_, std::defer_lock);
  while (!turn.try_lock_for(kMpiTurnPoll)) cancellation.check();
  auto exchange = std::make_unique<ExchangeInTurn>(std::move(turn), world_.exchange(request.statement), ranks);
  CHECK(exchange->rank() == request.rank, "workers over MPI are in the order of cluster_options()");
  return exchange;
}

}  // namespace eindb
