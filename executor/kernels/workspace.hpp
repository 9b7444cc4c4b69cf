#pragma once

#include <cstddef>

namespace eindb {

/// Memory that a thread's kernels take for a call and keep for the next one: after the first call of a size, calls
/// allocate nothing and touch no new pages. At most one per thread at a time; 64-byte aligned, in huge pages if
/// available; uninitialised. The maximum size of a call is known in advance, see Kernel::workspace_bytes.
class Workspace {
 public:
  /// Throws Error{MemoryLimit} if there is no memory.
  explicit Workspace(std::size_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// The next part of the memory, aligned to 64 bytes.
  std::byte* take(std::size_t bytes);
  template <class T>
  T* take_array(std::size_t count) {
    return reinterpret_cast<T*>(take(count * sizeof(T)));
  }
  /// The bytes of the workspace that take() uses for a request of this size.
  static constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  /// The bytes allocated for a workspace of this size: whole pages.
  static std::size_t allocated(std::size_t bytes);
  /// The bytes held by this thread, in use or not.
  static std::size_t held_by_this_thread();
  /// Frees them; not while a workspace of this thread lives.
  static void release_this_thread();

  /// A scope in which this thread's kernels use only about `most` bytes, if they can work in smaller blocks. At its end
  /// the thread frees its workspace.
  class Bound {
   public:
    explicit Bound(std::size_t most);
    ~Bound();
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;

   private:
    std::size_t outer_;
  };
  /// The innermost bound of this thread; without one, more than any kernel needs.
  static std::size_t most();

 private:
  std::byte* next_;
  std::byte* end_;
};

}  // namespace eindb
