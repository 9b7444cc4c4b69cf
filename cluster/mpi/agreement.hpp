#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "cluster/mpi/mpi_support.hpp"
#include "cluster/mpi/outbox.hpp"
#include "common/error.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb::mpi {

/// Makes ranks enter an MPI collective together, or not at all. A collective cannot be abandoned, so a rank that fails
/// must not leave others inside one. Before each collective every member tells the group's first rank, the leader, that
/// it is ready. Once all are ready, and the leader knows of no failure, the leader lets them enter. A ready member
/// enters if the leader says so, whatever other messages it receives. Only a failure reported by the leader ends its
/// wait; every rank reports every failure to all ranks. Messages between two ranks keep their order, so all members see
/// "go" and "failed" in the same order. A wait ends as soon as the leader handles its messages; while the leader
/// computes, a thread of the world does that.
///
/// Example of why a member must not leave by itself: A leads {A, B}, B is ready, and C fails. B receives C's failure
/// first, but A has already let B enter and waits in the collective.
///
/// Thread-safe. One statement is current at a time; messages for later ones are kept.
class Agreement {
 public:
  using Statement = std::uint64_t;

  /// A member's description of the operation, equal at all members, and a number. All members receive the greatest
  /// number.
  struct Proposal {
    std::uint64_t signature = 0;
    std::uint64_t value = 0;
  };

  /// Called by all ranks. The arguments must outlive the object.
  Agreement(ThreadGate& gate, Outbox& outbox, void (*poll_cancellation)());

  Rank rank() const { return rank_; }
  std::size_t size() const { return size_; }

  /// Makes `statement` the current one; earlier statements are over.
  void begin(Statement statement);
  /// Ends the statement on this rank; it fails for ranks that still wait for this one.
  void end(Statement statement);

  /// Waits until all ranks of `group`, including this one, have called it; then all of them enter the collective.
  /// Returns the greatest value. Throws the statement's failure, Error{Cancelled} if this thread's work is cancelled,
  /// Error{WorkerLost} if a rank has ended the statement, Error{Internal} if the signatures differ.
  std::uint64_t agree(Statement statement, std::span<const Rank> group, const Proposal& mine);
  /// Fails the statement with this error, unless it has failed already, and tells all ranks.
  void fail(Statement statement, std::exception_ptr error) noexcept;
  /// Handles received messages. An error meanwhile fails the current statement.
  void poll() noexcept;

 private:
  enum class Kind : std::uint32_t { Ready, Go, Failed, Left };
  struct Message;

  /// The messages received for a statement, and its failure.
  struct State {
    explicit State(std::size_t size) : ready(size), go(size), failed(size), left(size) {}
    std::vector<std::optional<Proposal>> ready;  // by rank
    std::vector<std::optional<Proposal>> go;     // by leader
    std::vector<bool> failed;                    // by rank
    std::vector<bool> left;                      // by rank
    std::exception_ptr failure;
  };

  std::uint64_t lead(Statement statement, std::span<const Rank> group, const Proposal& mine);
  std::uint64_t follow(Statement statement, Rank leader, const Proposal& mine);
  void look(Statement statement);
  std::optional<std::uint64_t> decide(Statement statement, std::span<const Rank> members, const Proposal& mine);
  std::optional<std::uint64_t> decision_of(Statement statement, Rank leader);

  // Call these with mutex_ held.
  State& state(Statement statement) { return states_.try_emplace(statement, size_).first->second; }
  void handle(Rank from, const Message& message);
  void require_same(Statement statement, Rank member, const Proposal& mine);
  void fail_here(Statement statement, std::exception_ptr error) noexcept;
  void fail_with(Statement statement, std::exception_ptr error, const Error& told) noexcept;
  [[noreturn]] void throw_left(Statement statement, Rank rank);
  void forget_before(Statement statement);
  void send(Rank to, const Message& message);
  void send_to_others(const Message& message);

  ThreadGate& gate_;
  Outbox& outbox_;
  void (*const poll_cancellation_)();
  Communicator comm_;
  Rank rank_ = 0;
  std::size_t size_ = 1;

  std::mutex mutex_;  // guards the members below, and the order of messages in both directions
  Statement first_ = 0;
  std::map<Statement, State> states_;  // of first_ and later ones
};

}  // namespace eindb::mpi
