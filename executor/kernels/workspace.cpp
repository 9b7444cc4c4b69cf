#include "executor/kernels/workspace.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;

struct Free {
  void operator()(std::byte* p) const noexcept { std::free(p); }
};

struct ThreadMemory {
  std::unique_ptr<std::byte[], Free> data;
  std::size_t size = 0;
  bool in_use = false;
};

ThreadMemory& memory_of_this_thread() {
  thread_local ThreadMemory memory;
  return memory;
}

// Large ones begin on a huge page: panels are read from start to end many times over, and would otherwise need more
// address translations than a core remembers.
std::byte* allocate(std::size_t bytes) {
  const bool huge = bytes >= kHugePage;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(huge ? kHugePage : 64, bytes));
  if (data == nullptr) {
    throw Error(ErrorKind::MemoryLimit, "no memory for " + std::to_string(bytes) + " bytes of a kernel", std::nullopt,
                "lower tile_bytes to work on smaller tiles");
  }
  if (huge) madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

}  // namespace

Workspace::Workspace(std::size_t bytes) {
  auto& memory = memory_of_this_thread();
  CHECK(!memory.in_use, "a thread runs one kernel at a time");
  if (bytes > memory.size) {
    const auto size = allocated(bytes);
    memory.size = 0;
    memory.data.reset();
    memory.data.reset(allocate(size));
    memory.size = size;
  }
  memory.in_use = true;
  next_ = memory.data.get();
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
  const auto unit = bytes >= kHugePage ? kHugePage : std::size_t{4096};
  return (bytes + unit - 1) / unit * unit;
}

std::size_t Workspace::held_by_this_thread() { return memory_of_this_thread().size; }

void Workspace::release_this_thread() {
  auto& memory = memory_of_this_thread();
  CHECK(!memory.in_use, "a workspace in use is not released");
  memory.data.reset();
  memory.size = 0;
}

}  // namespace eindb
