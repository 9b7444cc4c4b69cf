#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/error.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// Why a statement ends at all ranks, as the rank has it where that began.
struct AbortCause {
  Rank origin = 0;
  Error error;
};

/// The head of a frame that tells of it; long messages are cut.
std::vector<std::byte> write_abort_head(const AbortCause& cause);
/// nullopt for bytes that are no such head.
std::optional<AbortCause> read_abort_head(std::span<const std::byte> head);

}  // namespace eindb
