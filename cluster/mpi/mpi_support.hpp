#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

namespace eindb::mpi {

/// Throws Error{Io} with MPI's error text unless `code` is MPI_SUCCESS.
void check(int code, std::string_view call);

/// Allows concurrent calls of MPI if it supports them (MPI_THREAD_MULTIPLE), otherwise serialises them.
class ThreadGate {
 public:
  explicit ThreadGate(int provided) : open_(provided == MPI_THREAD_MULTIPLE) {}
  /// Hold the lock during a call of MPI.
  std::unique_lock<std::mutex> enter() { return open_ ? std::unique_lock<std::mutex>() : std::unique_lock(mutex_); }

 private:
  const bool open_;
  std::mutex mutex_;  // guards all calls of MPI, unless open_
};

/// The pause between polls for messages: yields, and after a while sleeps. There may be more ranks than cores.
class Patience {
 public:
  void pause();
  void reset() { looks_ = 0; }

 private:
  std::int64_t looks_ = 0;
};

/// An owned communicator, set to return errors; the destructor frees it.
class Communicator {
 public:
  Communicator() = default;
  /// Takes ownership.
  explicit Communicator(MPI_Comm comm);
  /// A copy of MPI_COMM_WORLD, whose messages are separate from all others. All ranks must call it.
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

/// An owned MPI_Datatype.
class BlockType {
 public:
  /// A block of `bytes` bytes; in a sequence, blocks begin `stride` bytes apart.
  BlockType(std::size_t bytes, std::size_t stride);
  ~BlockType();
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Waits for all requests, yielding the processor.
void wait_all(std::span<MPI_Request> requests, ThreadGate& gate);

}  // namespace eindb::mpi
