#include "executor/kernels/workspace.hpp"

#include <pthread.h>

#include <memory>
#include <utility>

#include "common/check.hpp"
#include "executor/kernels/scratch.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMostWithoutLimit = std::size_t{1} << 40U;

/// Has no destructor: glibc aborts the process if it lacks memory to register one for a thread_local object.
struct ThreadMemory {
  Scratch* data = nullptr;  // owning
  std::size_t size = 0;
  bool in_use = false;
  std::size_t most = kMostWithoutLimit;

  void release() {
    delete std::exchange(data, nullptr);
    size = 0;
  }
};

ThreadMemory& memory_of_this_thread() {
  static constinit thread_local ThreadMemory memory;
  return memory;
}

/// Frees the memory of a thread when it ends. The first keys of a process need no allocation.
void release_with_thread(ThreadMemory& memory) {
  static const auto key = [] {
    pthread_key_t made{};
    ::pthread_key_create(&made, [](void* held) { static_cast<ThreadMemory*>(held)->release(); });
    return made;
  }();
  ::pthread_setspecific(key, &memory);
}

}  // namespace

Workspace::Workspace(std::size_t bytes) {
  auto& memory = memory_of_this_thread();
  CHECK(!memory.in_use, "a thread runs one kernel at a time");
  if (bytes > memory.size) {
    release_this_thread();
    memory.data = std::make_unique<Scratch>(allocated(bytes)).release();
    memory.size = allocated(bytes);
    release_with_thread(memory);
  }
  CHECK(memory.size >= bytes && (memory.size == 0) == (memory.data == nullptr), "a thread holds what its kernel takes");
  memory.in_use = true;
  next_ = memory.data != nullptr ? memory.data->data() : nullptr;
  end_ = next_ + memory.size;
}

Workspace::~Workspace() { memory_of_this_thread().in_use = false; }

std::byte* Workspace::take(std::size_t bytes) {
  auto* part = next_;
  CHECK(rounded(bytes) <= static_cast<std::size_t>(end_ - next_), "a kernel stays within its workspace");
  next_ += rounded(bytes);
  return part;
}

std::size_t Workspace::allocated(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

std::size_t Workspace::held_by_this_thread() { return memory_of_this_thread().size; }

void Workspace::release_this_thread() {
  auto& memory = memory_of_this_thread();
  CHECK(!memory.in_use, "a workspace in use is not released");
  memory.release();
}

Workspace::Bound::Bound(std::size_t most) : outer_(std::exchange(memory_of_this_thread().most, most)) {}

Workspace::Bound::~Bound() {
  memory_of_this_thread().most = outer_;
  release_this_thread();
}

std::size_t Workspace::most() { return memory_of_this_thread().most; }

}  // namespace eindb
