#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "common/error.hpp"

namespace eindb {

/// Memory of one kernel call, aligned to 64 bytes, uninitialised.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : data_(static_cast<std::byte*>(std::aligned_alloc(64, (bytes / 64 + 1) * 64))) {
    if (data_ == nullptr) {
      throw Error(ErrorKind::MemoryLimit, "no memory for " + std::to_string(bytes) + " bytes of a kernel", std::nullopt,
                  "lower tile_bytes to work on smaller tiles");
    }
  }
  std::byte* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<std::byte[], Free> data_;
};

}  // namespace eindb
