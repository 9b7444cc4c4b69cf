#pragma once

#include <cstddef>

namespace eindb {

/// Memory that kernels of one thread take for a call and leave for the next: a call allocates nothing and touches no
/// new pages once its thread has done one of its size. At most one at a time per thread; 64-byte aligned, in huge
/// pages where the system has them; uninitialised. What a call may take is known before, see Kernel::workspace_bytes.
class Workspace {
 public:
  /// Throws Error (MemoryLimit) if there is no memory.
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
  /// The bytes of the workspace that take() uses up for a request of so many bytes.
  static constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  /// The bytes that are allocated for a workspace of so many bytes: whole pages.
  static std::size_t allocated(std::size_t bytes);
  /// Bytes that this thread holds, in use or not.
  static std::size_t held_by_this_thread();
  /// Gives them back; not while a workspace of this thread lives.
  static void release_this_thread();

  /// The scope in which kernels of this thread make do with `most` bytes where they can work in smaller blocks, about.
  /// In the end the thread gives its workspace back.
  class Bound {
   public:
    explicit Bound(std::size_t most);
    ~Bound();
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;

   private:
    std::size_t outer_;
  };
  /// Of the innermost bound of this thread; without one, what no kernel needs.
  static std::size_t most();

 private:
  std::byte* next_;
  std::byte* end_;
};

}  // namespace eindb
