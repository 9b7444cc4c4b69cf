#include "cluster/mpi/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "common/check.hpp"
#include "common/error.hpp"
#include "executor/rank_error.hpp"

namespace eindb::mpi {

namespace {

/// Messages and hints are truncated, since failures are sent without waiting for the receivers.
constexpr std::size_t kMaxText = 1500;

std::string name_of(Rank rank) { return "rank " + std::to_string(rank); }

}  // namespace

/// The bytes of a message: the fixed part, and for Failed the texts of the error.
struct Agreement::Message {
  struct Fixed {
    Kind kind = Kind::Ready;
    ErrorKind error = ErrorKind::Internal;
    std::uint64_t message_size = 0;
    std::uint64_t hint_size = 0;
    Statement statement = 0;
    Proposal proposal;  ///< for Ready and Go
  };
  Fixed fixed;
  std::string message;
  std::string hint;

  Message(Kind kind, Statement statement, const Proposal& proposal = {}) {
    fixed.kind = kind;
    fixed.statement = statement;
    fixed.proposal = proposal;
  }
  Message(Statement statement, const Error& error) : Message(Kind::Failed, statement) {
    message = error.message().substr(0, kMaxText);
    hint = error.hint().substr(0, kMaxText);
    fixed.error = error.kind();
    fixed.message_size = message.size();
    fixed.hint_size = hint.size();
  }
  /// Error{Corrupt} for malformed bytes.
  explicit Message(std::span<const std::byte> bytes);

  std::vector<std::byte> bytes() const;
};

Agreement::Message::Message(std::span<const std::byte> bytes) {
  const auto require = [](bool makes_sense) {
    if (!makes_sense) throw Error(ErrorKind::Corrupt, "a message between ranks makes no sense");
  };
  require(bytes.size() >= sizeof fixed);
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  require(fixed.kind <= Kind::Left && fixed.error >= ErrorKind{} && fixed.error <= ErrorKind::Internal);
  require(fixed.message_size <= kMaxText && fixed.hint_size <= kMaxText);
  require(bytes.size() == sizeof fixed + fixed.message_size + fixed.hint_size);
  const auto* const text = reinterpret_cast<const char*>(bytes.data()) + sizeof fixed;
  message.assign(text, fixed.message_size);
  hint.assign(text + fixed.message_size, fixed.hint_size);
}

std::vector<std::byte> Agreement::Message::bytes() const {
  std::vector<std::byte> bytes(sizeof fixed + message.size() + hint.size());
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  std::memcpy(bytes.data() + sizeof fixed, message.data(), message.size());
  std::memcpy(bytes.data() + sizeof fixed + message.size(), hint.data(), hint.size());
  return bytes;
}

Agreement::Agreement(ThreadGate& gate, Outbox& outbox, void (*poll_cancellation)())
    : gate_(gate), outbox_(outbox), poll_cancellation_(poll_cancellation), comm_(Communicator::of_world()) {
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(comm_.get(), &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_.get(), &size), "MPI_Comm_size");
  rank_ = static_cast<Rank>(rank);
  size_ = static_cast<std::size_t>(size);
  CHECK(rank >= 0 && rank < size, "a process is a rank of MPI");
}

void Agreement::begin(Statement statement) {
  const std::scoped_lock lock(mutex_);
  CHECK(statement >= first_, "statements are numbered upwards");
  forget_before(statement);
  state(statement);
  CHECK(states_.begin()->first == statement, "the current statement is the first that is not over");
}

void Agreement::end(Statement statement) {
  const std::scoped_lock lock(mutex_);
  forget_before(statement + 1);
}

void Agreement::fail(Statement statement, std::exception_ptr error) noexcept {
  const std::scoped_lock lock(mutex_);
  if (statement >= first_) fail_here(statement, std::move(error));
}

void Agreement::poll() noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    int from = MPI_ANY_SOURCE;
    for (; const auto bytes = take_message(from, comm_.get(), gate_); from = MPI_ANY_SOURCE)
      handle(static_cast<Rank>(from), Message(*bytes));
    outbox_.clear(gate_);
  } catch (...) {
    if (!states_.empty()) fail_here(states_.begin()->first, std::current_exception());
  }
}

std::uint64_t Agreement::agree(Statement statement, std::span<const Rank> group, const Proposal& mine) {
  CHECK(!group.empty(), "a group has a leader");
  DCHECK(std::ranges::find(group, rank_) != group.end(), "a rank agrees with groups that it belongs to");
  const Rank leader = group.front();
  return leader == rank_ ? lead(statement, group, mine) : follow(statement, leader, mine);
}

std::uint64_t Agreement::lead(Statement statement, std::span<const Rank> group, const Proposal& mine) {
  Patience patience;
  while (true) {
    look(statement);
    if (const auto agreed = decide(statement, group.subspan(1), mine)) return *agreed;
    patience.pause();
  }
}

std::uint64_t Agreement::follow(Statement statement, Rank leader, const Proposal& mine) {
  look(statement);
  {
    const std::scoped_lock lock(mutex_);
    if (state(statement).failure) std::rethrow_exception(state(statement).failure);
    send(leader, Message(Kind::Ready, statement, mine));
  }
  Patience patience;
  while (true) {
    if (const auto agreed = decision_of(statement, leader)) return *agreed;
    patience.pause();
    look(statement);
  }
}

/// Handles received messages; a request to cancel fails the statement.
void Agreement::look(Statement statement) {
  poll();
  try {
    poll_cancellation_();
  } catch (const Error&) {
    fail(statement, std::current_exception());
  }
}

/// For the leader: lets all members enter if all are ready.
std::optional<std::uint64_t> Agreement::decide(Statement statement, std::span<const Rank> members,
                                               const Proposal& mine) {
  const std::scoped_lock lock(mutex_);
  auto& now = state(statement);
  if (now.failure) std::rethrow_exception(now.failure);
  for (const Rank member : members) {
    if (now.ready[member]) continue;
    if (now.left[member]) throw_left(statement, member);
    return std::nullopt;
  }
  Proposal agreed = mine;
  for (const Rank member : members) {
    require_same(statement, member, mine);
    agreed.value = std::max(agreed.value, now.ready[member]->value);
    now.ready[member].reset();
  }
  for (const Rank member : members) send(member, Message(Kind::Go, statement, agreed));
  return agreed.value;
}

/// For a member: whether the leader lets it enter. If so, no failure counts.
std::optional<std::uint64_t> Agreement::decision_of(Statement statement, Rank leader) {
  const std::scoped_lock lock(mutex_);
  auto& now = state(statement);
  if (const auto go = std::exchange(now.go[leader], std::nullopt)) return go->value;
  if (now.failed[leader]) {
    CHECK(now.failure != nullptr, "a statement has failed where a leader has");
    std::rethrow_exception(now.failure);
  }
  if (now.left[leader]) throw_left(statement, leader);
  return std::nullopt;
}

void Agreement::handle(Rank from, const Message& message) {
  const auto statement = message.fixed.statement;
  if (statement < first_) {
    if (message.fixed.kind == Kind::Ready) send(from, Message(Kind::Left, statement));
    return;
  }
  CHECK(from < size_, "a message comes from a rank");
  auto& now = state(statement);
  switch (message.fixed.kind) {
    case Kind::Ready: now.ready[from] = message.fixed.proposal; break;
    case Kind::Go: now.go[from] = message.fixed.proposal; break;
    case Kind::Left: now.left[from] = true; break;
    case Kind::Failed:
      now.failed[from] = true;
      const Error error(message.fixed.error, message.message, std::nullopt, message.hint);
      fail_with(statement, std::make_exception_ptr(error), error);
      break;
  }
}

void Agreement::require_same(Statement statement, Rank member, const Proposal& mine) {
  if (state(statement).ready[member]->signature == mine.signature) return;
  fail_here(statement, std::make_exception_ptr(Error(ErrorKind::Internal, name_of(rank_) + " and " + name_of(member) +
                                                                              " exchange different things")));
  std::rethrow_exception(state(statement).failure);
}

/// Fails with an error of this rank, which the others receive as such.
void Agreement::fail_here(Statement statement, std::exception_ptr error) noexcept {
  const auto told = error_of_rank(name_of(rank_), error);
  fail_with(statement, std::move(error), told);
}

/// Every rank tells every other, even about a failure it was told of, since a member waits for a message of its own
/// leader.
void Agreement::fail_with(Statement statement, std::exception_ptr error, const Error& told) noexcept {
  auto& now = state(statement);
  if (now.failure) return;
  now.failure = std::move(error);
  try {
    send_to_others(Message(statement, told));
  } catch (
      ...) {  // NOLINT(bugprone-empty-catch): where MPI takes no message there is no way to tell; mpirun ends the job
  }
}

void Agreement::throw_left(Statement statement, Rank rank) {
  fail_here(statement, std::make_exception_ptr(Error(ErrorKind::WorkerLost, name_of(rank) + " has left")));
  std::rethrow_exception(state(statement).failure);
}

void Agreement::forget_before(Statement statement) {
  for (auto at = states_.begin(); at != states_.end() && at->first < statement; at = states_.erase(at))
    send_to_others(Message(Kind::Left, at->first));
  first_ = std::max(first_, statement);
}

void Agreement::send(Rank to, const Message& message) { outbox_.send(message.bytes(), to, comm_.get(), gate_); }

void Agreement::send_to_others(const Message& message) {
  for (std::size_t to = 0; to < size_; ++to)
    if (to != rank_) send(static_cast<Rank>(to), message);
}

}  // namespace eindb::mpi
