#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/error.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// The reason why a statement ends at all ranks, as stated by the rank where it began.
struct AbortCause {
  Rank origin = 0;
  Error error;
};

/// The head of an Abort frame with this cause; long messages are truncated.
std::vector<std::byte> write_abort_head(const AbortCause& cause);
/// nullopt if the bytes are not such a head.
std::optional<AbortCause> read_abort_head(std::span<const std::byte> head);

}  // namespace eindb
