#include <mpi.h>

#include <cstdlib>
#include <exception>
#include <list>
#include <thread>
#include <vector>

#include "cluster/mpi/agreement.hpp"
#include "cluster/mpi/communicators.hpp"
#include "cluster/mpi/mpi_channel.hpp"
#include "cluster/mpi/mpi_exchange.hpp"
#include "cluster/mpi_plugin.hpp"
#include "common/check.hpp"

namespace eindb::mpi {

namespace {

/// Open MPI waits in a loop that yields only if it is told that ranks share cores. mpirun detects that if it knows the
/// number of cores, but containers often have fewer.
void advise_to_yield() {
  const char* ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (ranks != nullptr && std::strtoul(ranks, nullptr, 10) > std::thread::hardware_concurrency())
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

/// MPI from MPI_Init_thread to MPI_Finalize.
class Session {
 public:
  explicit Session(int threads) {
    advise_to_yield();
    check(MPI_Init_thread(nullptr, nullptr, threads, &provided_), "MPI_Init_thread");
    if (provided_ >= MPI_THREAD_SERIALIZED) return;
    MPI_Finalize();
    throw Error(ErrorKind::Unsupported, "this MPI allows one thread to call it only");
  }
  ~Session() {
    // Otherwise the other ranks would wait for this one, which is about to end.
    if (std::uncaught_exceptions() > 0) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int provided() const { return provided_; }
  static std::string library() {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    return text.substr(0, text.find(','));
  }

 private:
  int provided_ = MPI_THREAD_SINGLE;
};

std::size_t count_ranks_here() {
  MPI_Comm here = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here), "MPI_Comm_split_type");
  const Communicator owner(here);
  int size = 0;
  check(MPI_Comm_size(here, &size), "MPI_Comm_size");
  return static_cast<std::size_t>(size);
}

class OpenMpiWorld final : public MpiWorld {
 public:
  explicit OpenMpiWorld(const MpiPluginHost& host)
      : session_(host.tuning.one_thread_at_a_time ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE),
        ranks_here_(count_ranks_here()),
        gate_(session_.provided()),
        agreement_(gate_, outboxes_.emplace_back(), host.poll_cancellation),
        communicators_(gate_),
        channels_(Communicator::of_world()),
        has_channel_(agreement_.size(), false),
        transport_{gate_, agreement_, communicators_, host},
        watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

  Rank rank() const override { return agreement_.rank(); }
  std::size_t size() const override { return agreement_.size(); }
  std::size_t ranks_here() const override { return ranks_here_; }
  std::string description() const override {
    return Session::library() + ", rank " + std::to_string(rank()) + " of " + std::to_string(size()) + ", " +
           (session_.provided() == MPI_THREAD_MULTIPLE ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_SERIALIZED");
  }

  std::unique_ptr<Channel> channel(Rank peer) override {
    CHECK(peer < size() && peer != rank() && !has_channel_[peer], "a rank has one channel to each other");
    has_channel_[peer] = true;
    return std::make_unique<MpiChannel>(channels_.get(), gate_, outboxes_.emplace_back(), peer,
                                        transport_.host.tuning.chunk_bytes);
  }

  std::unique_ptr<Exchange> exchange(std::uint64_t statement) override {
    return std::make_unique<MpiExchange>(transport_, statement);
  }

 private:
  /// Handles messages of other ranks while this rank computes: see Agreement.
  void watch(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kBetween{2};
    while (!stop.stop_requested()) {
      agreement_.poll();
      std::this_thread::sleep_for(kBetween);
    }
  }

  // In the order of their dependencies.
  std::list<Outbox> outboxes_;
  Session session_;
  const std::size_t ranks_here_;
  ThreadGate gate_;
  Agreement agreement_;
  Communicators communicators_;
  Communicator channels_;
  std::vector<bool> has_channel_;
  Transport transport_;
  std::jthread watcher_;
};

}  // namespace

}  // namespace eindb::mpi

#define EINDB_EXPORT extern "C" __attribute__((visibility("default")))

EINDB_EXPORT const char* eindb_mpi_contract() { return EINDB_MPI_CONTRACT; }

EINDB_EXPORT eindb::MpiWorld* eindb_mpi_world(const eindb::MpiPluginHost* host) {
  CHECK(host != nullptr && host->combine != nullptr && host->poll_cancellation != nullptr,
        "the program gives the plugin its functions");
  return new eindb::mpi::OpenMpiWorld(*host);
}
