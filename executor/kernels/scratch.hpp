#pragma once

#include <cstddef>
#include <string>

#include "common/error.hpp"
#include "tensor/tile_memory.hpp"

namespace eindb {

/// Memory for one kernel call, aligned to 64 bytes, uninitialised, taken from the memory of tiles.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : block_(TileMemory::instance().take(bytes)) {
    if (block_.data == nullptr) {
      throw Error(ErrorKind::MemoryLimit, "no memory for " + std::to_string(bytes) + " bytes of a kernel", std::nullopt,
                  "lower tile_bytes to work on smaller tiles");
    }
  }
  ~Scratch() { TileMemory::instance().give_back(block_.data, block_.mapped); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* data() const { return block_.data; }

 private:
  TileMemory::Block block_;
};

}  // namespace eindb
