#include "engine/memory_use.hpp"

#include "tensor/tile_memory.hpp"

namespace eindb {

MemoryUse memory_use() {
  const auto& memory = TileMemory::instance();
  return {.used_bytes = memory.used_bytes(), .kept_bytes = memory.kept_bytes()};
}

}  // namespace eindb
