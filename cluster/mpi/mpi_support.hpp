#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

namespace eindb::mpi {

/// Throws Error{Io} with MPI's own words unless `code` is MPI_SUCCESS.
void check(int code, std::string_view call);

/// Lets threads call MPI at the same time if it can (MPI_THREAD_MULTIPLE), else one after the other.
class ThreadGate {
 public:
  explicit ThreadGate(int provided) : open_(provided == MPI_THREAD_MULTIPLE) {}
  /// To be held during a call of MPI.
  std::unique_lock<std::mutex> enter() { return open_ ? std::unique_lock<std::mutex>() : std::unique_lock(mutex_); }

 private:
  const bool open_;
  std::mutex mutex_;  // guards all of MPI, unless open_
};

/// Between two looks at what has not come yet: lets others run, and after a while sleeps. Ranks may be more than cores.
class Patience {
 public:
  void pause();
  void reset() { looks_ = 0; }

 private:
  std::int64_t looks_ = 0;
};

/// A communicator of one's own, which returns errors; freed at the end.
class Communicator {
 public:
  Communicator() = default;
  /// Takes it over.
  explicit Communicator(MPI_Comm comm);
  /// A copy of MPI_COMM_WORLD: messages in it meet no others. Called by all ranks.
  static Communicator of_world();
  ~Communicator();
  Communicator(Communicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  Communicator& operator=(Communicator&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }

  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// An MPI_Datatype that lives as long as this.
class BlockType {
 public:
  /// `bytes` bytes; of several in a row each begins `stride` bytes after the one before.
  BlockType(std::size_t bytes, std::size_t stride);
  ~BlockType();
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Waits for all of them, politely.
void wait_all(std::span<MPI_Request> requests, ThreadGate& gate);

}  // namespace eindb::mpi
