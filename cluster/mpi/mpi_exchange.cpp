#include "cluster/mpi/mpi_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "common/check.hpp"
#include "common/stopwatch.hpp"

namespace eindb::mpi {

namespace {

/// A hash that depends on each value and on their order.
std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  seed ^= value + 0x9E3779B97F4A7C15U + (seed << 6U) + (seed >> 2U);
  return seed * 0xD6E8FEB86659FD93U;
}

std::size_t position_in(const Exchange::Group& group, Rank rank) {
  const auto at = std::ranges::find(group, rank);
  CHECK(at != group.end(), "a rank calls operations of groups that it belongs to");
  return static_cast<std::size_t>(at - group.begin());
}

}  // namespace

MpiExchange::MpiExchange(Transport& transport, Agreement::Statement statement)
    : transport_(transport),
      statement_(statement),
      exceptions_(std::uncaught_exceptions()),
      everyone_(transport.agreement.size()) {
  std::iota(everyone_.begin(), everyone_.end(), Rank{0});
  transport_.agreement.begin(statement_);
}

MpiExchange::~MpiExchange() {
  if (std::uncaught_exceptions() > exceptions_)
    abort(std::make_exception_ptr(
        Error(ErrorKind::WorkerLost, "rank " + std::to_string(rank()) + " has given up the statement")));
  transport_.agreement.end(statement_);
}

std::uint64_t MpiExchange::agree(const Group& group, Operation operation, std::uint64_t detail, std::uint64_t value) {
  auto signature = mix(static_cast<std::uint64_t>(operation), detail);
  for (const Rank member : group) signature = mix(signature, member);
  const Stopwatch watch;
  const auto agreed = transport_.agreement.agree(statement_, group, {signature, value});
  const std::scoped_lock lock(counters_mutex_);
  counters_.seconds_waiting += watch.seconds();
  return agreed;
}

/// The bytes of a block that are exchanged at once, a multiple of `unit`, the size of an element.
std::size_t MpiExchange::chunk_of(const Group& group, std::size_t unit, std::size_t bytes) const {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;  // MPI counts in int, also the sum over members
  CHECK(unit > 0 && !group.empty(), "blocks are of units, and between members");
  const std::size_t most = std::min(bytes, kMostAtOnce / group.size());
  return std::max(most / unit, std::size_t{1}) * unit;
}

void MpiExchange::in_rounds(const Group& group, Operation operation, std::size_t block, std::size_t chunk,
                            const Round& round) {
  CHECK(chunk > 0, "a round moves something");
  std::size_t offset = 0;
  do {
    agree(group, operation, mix(block, offset));
    const std::size_t bytes = std::min(chunk, block - offset);
    if (bytes > 0) round(transport_.communicators.of(group), offset, bytes);
    offset += bytes;
  } while (offset < block);
  const std::size_t others = (group.size() - 1) * block;
  count(others, others, group.size() - 1);
}

void MpiExchange::all_gather(const Group& group, std::span<const std::byte> mine, std::span<std::byte> all) {
  CHECK(all.size() == mine.size() * group.size(), "an all-gather has room for the block of each member");
  const bool in_place = mine.data() == all.data() + position_in(group, rank()) * mine.size();
  in_rounds(group, Operation::AllGather, mine.size(), chunk_of(group, 1, transport_.host.tuning.chunk_bytes),
            [&](MPI_Comm comm, std::size_t offset, std::size_t bytes) {
              const auto inside = transport_.gate.enter();
              const BlockType block(bytes, mine.size());
              check(MPI_Allgather(in_place ? MPI_IN_PLACE : mine.data() + offset, 1, block.get(), all.data() + offset,
                                  1, block.get(), comm),
                    "MPI_Allgather");
            });
}

/// Exchanges `bytes` of each block of `out` from `offset` on; the received parts lie `stride` bytes apart.
void MpiExchange::exchange_blocks(MPI_Comm comm, std::span<const std::byte> out, std::size_t block, std::size_t offset,
                                  std::size_t bytes, std::byte* into, std::size_t stride) {
  const auto inside = transport_.gate.enter();
  const BlockType sent(bytes, block);
  const BlockType received(bytes, stride);
  check(MPI_Alltoall(out.data() + offset, 1, sent.get(), into, 1, received.get(), comm), "MPI_Alltoall");
}

void MpiExchange::all_to_all(const Group& group, std::span<const std::byte> out, std::span<std::byte> in) {
  CHECK(out.size() == in.size() && out.size() % group.size() == 0, "an all-to-all has a block for each member");
  const std::size_t block = out.size() / group.size();
  in_rounds(group, Operation::AllToAll, block, chunk_of(group, 1, transport_.host.tuning.chunk_bytes),
            [&](MPI_Comm comm, std::size_t offset, std::size_t bytes) {
              exchange_blocks(comm, out, block, offset, bytes, in.data() + offset, block);
            });
}

void MpiExchange::reduce_scatter(const Group& group, Aggregate aggregate, DType type, std::span<const std::byte> in,
                                 std::span<std::byte> mine) {
  CHECK(in.size() == mine.size() * group.size(), "a reduce-scatter has a block for each member");
  CHECK(mine.size() % size_of(type) == 0, "what is reduced are whole elements");
  const std::size_t chunk = chunk_of(group, size_of(type), transport_.host.tuning.reduced_bytes);
  auto& parts = transport_.parts;
  parts.resize(std::max(parts.size(), std::min(chunk, mine.size()) * group.size()));
  in_rounds(group, Operation::ReduceScatter, mine.size(), chunk,
            [&](MPI_Comm comm, std::size_t offset, std::size_t bytes) {
              exchange_blocks(comm, in, mine.size(), offset, bytes, parts.data(), bytes);
              const std::span into(mine.data() + offset, bytes);
              std::copy_n(parts.begin(), bytes, into.begin());
              for (std::size_t n = 1; n < group.size(); ++n)
                transport_.host.combine(aggregate, type, into, std::span(parts.data() + n * bytes, bytes));
            });
}

void MpiExchange::permute(Rank to, Rank from, std::span<const std::byte> out, std::span<std::byte> in) {
  CHECK(to < size() && from < size(), "a permutation is of the ranks that there are");
  CHECK((to == rank()) == (from == rank()), "a permutation that sends a rank to itself brings it nothing else");
  CHECK(to != rank() || out.size() == in.size(), "a rank has room for what it sends to itself");
  const std::size_t chunk = std::min(transport_.host.tuning.chunk_bytes, std::size_t{1} << 30U);
  const auto longest = agree(everyone_, Operation::Permute, 0, std::max(out.size(), in.size()));
  for (std::size_t offset = 0; offset < longest; offset += chunk) {
    if (offset > 0) agree(everyone_, Operation::Permute, offset);
    const auto piece = [&](auto whole) {
      const std::size_t begin = std::min(offset, whole.size());
      return whole.subspan(begin, std::min(chunk, whole.size() - begin));
    };
    if (to == rank()) std::ranges::copy(piece(out), piece(in).begin());
    else send_and_receive(to, piece(out), from, piece(in));
  }
  if (to != rank()) count(out.size(), in.size(), 1);
}

/// Empty messages are not sent.
void MpiExchange::send_and_receive(Rank to, std::span<const std::byte> out, Rank from, std::span<std::byte> in) {
  std::vector<MPI_Request> requests;
  {
    const auto inside = transport_.gate.enter();
    const auto comm = transport_.communicators.world();
    if (!in.empty())
      check(MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, from, 0, comm, &requests.emplace_back()),
            "MPI_Irecv");
    if (!out.empty())
      check(MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, to, 0, comm, &requests.emplace_back()),
            "MPI_Isend");
  }
  wait_all(requests, transport_.gate);
}

void MpiExchange::barrier(const Group& group) {
  position_in(group, rank());
  agree(group, Operation::Barrier, 0);
}

void MpiExchange::all_to_all(OutgoingStreams& out, IncomingStreams& in) {
  StreamRounds rounds(
      {transport_.gate, transport_.communicators.world(), transport_.host.tuning, transport_.parcels, rank(), size()},
      out, in);
  try {
    while (true) {
      rounds.prepare();
      if (agree(everyone_, Operation::Streams, 0, rounds.has_more() ? 1 : 0) == 0) break;
      rounds.exchange();
    }
  } catch (...) {
    abort(std::current_exception());
    throw;
  }
  const auto& moved = rounds.counters();
  count(static_cast<std::size_t>(moved.bytes_sent), static_cast<std::size_t>(moved.bytes_received),
        static_cast<std::size_t>(moved.messages_sent));
}

void MpiExchange::abort(std::exception_ptr error) noexcept { transport_.agreement.fail(statement_, std::move(error)); }

void MpiExchange::count(std::size_t sent, std::size_t received, std::size_t messages) {
  const std::scoped_lock lock(counters_mutex_);
  counters_.bytes_sent += static_cast<std::int64_t>(sent);
  counters_.bytes_received += static_cast<std::int64_t>(received);
  counters_.messages_sent += static_cast<std::int64_t>(messages);
}

ExchangeCounters MpiExchange::counters() const {
  const std::scoped_lock lock(counters_mutex_);
  return counters_;
}

}  // namespace eindb::mpi
