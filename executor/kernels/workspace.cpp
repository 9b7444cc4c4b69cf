#include "executor/kernels/workspace.hpp"

#include <optional>
#include <utility>

#include "common/check.hpp"
#include "executor/kernels/scratch.hpp"

namespace eindb {
namespace {

constexpr std::size_t kUnbounded = std::size_t{1} << 40U;

struct ThreadMemory {
  std::optional<Scratch> data;
  std::size_t size = 0;
  bool in_use = false;
  std::size_t most = kUnbounded;
};

ThreadMemory& memory_of_this_thread() {
  thread_local ThreadMemory memory;
  return memory;
}

}  // namespace

Workspace::Workspace(std::size_t bytes) {
  auto& memory = memory_of_this_thread();
  CHECK(!memory.in_use, "a thread runs one kernel at a time");
  if (bytes > memory.size) {
    release_this_thread();
    memory.data.emplace(allocated(bytes));
    memory.size = allocated(bytes);
  }
  memory.in_use = true;
  next_ = memory.data ? memory.data->data() : nullptr;
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
  memory.data.reset();
  memory.size = 0;
}

Workspace::Bound::Bound(std::size_t most) : outer_(std::exchange(memory_of_this_thread().most, most)) {}

Workspace::Bound::~Bound() {
  memory_of_this_thread().most = outer_;
  release_this_thread();
}

std::size_t Workspace::most() { return memory_of_this_thread().most; }

}  // namespace eindb
