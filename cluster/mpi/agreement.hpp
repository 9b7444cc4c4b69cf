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

/// How ranks enter MPI's collectives together, or not at all. A collective that has begun cannot be left: a rank that
/// fails must not leave others in one. So before each its members agree: everyone tells the group's first rank, the
/// leader, that it is ready; when all are, and the leader knows of no failure, it lets them go. A member that is ready
/// enters if the leader lets it, whatever else it hears meanwhile; only the leader's own failure, which the leader
/// tells all ranks as everyone does, ends its wait. Messages between two ranks keep their order, so that "go" and "I
/// have failed" mean the same to everyone, and each wait ends as soon as the leader looks at its messages: while it
/// computes, a thread of the world does that for it.
///
/// Example of why a member may not leave by itself: A leads {A, B}, B is ready, C fails. B hears of C first; A has let
/// B go and waits in the collective.
///
/// Thread-safe. One statement is current at a time; messages for later ones are kept.
class Agreement {
 public:
  using Statement = std::uint64_t;

  /// What a rank brings along: that all do the same, and a number, of which all get to know the greatest.
  struct Proposal {
    std::uint64_t signature = 0;
    std::uint64_t value = 0;
  };

  /// Called by all ranks. All three outlive this.
  Agreement(ThreadGate& gate, Outbox& outbox, void (*poll_cancellation)());

  Rank rank() const { return rank_; }
  std::size_t size() const { return size_; }

  /// `statement` is the current one, those before it are over.
  void begin(Statement statement);
  /// It is over here: for who still waits for this rank, it fails.
  void end(Statement statement);

  /// Waits until all ranks of `group`, this one among them, do the same: what follows is entered by all. The greatest
  /// value. Throws what the statement failed with, Error{Cancelled} if this thread's work is to be cancelled,
  /// Error{WorkerLost} if a rank has ended the statement, Error{Internal} where signatures differ.
  std::uint64_t agree(Statement statement, std::span<const Rank> group, const Proposal& mine);
  /// The statement fails with this error, unless it has already: all ranks are told.
  void fail(Statement statement, std::exception_ptr error) noexcept;
  /// Takes what has come. What goes wrong meanwhile fails the current statement.
  void poll() noexcept;

 private:
  enum class Kind : std::uint32_t { Ready, Go, Failed, Left };
  struct Message;

  /// One statement: what others said, and how it failed.
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

  // All of these with mutex_ held.
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

  std::mutex mutex_;  // guards all below, and the order of messages both ways
  Statement first_ = 0;
  std::map<Statement, State> states_;  // of first_ and later ones
};

}  // namespace eindb::mpi
