#pragma once

#include <span>
#include <string_view>

#include "executor/kernels/level_table.hpp"

namespace eindb {

/// The x86-64 micro-architecture levels that kernels are compiled for.
enum class InstructionSet : std::uint8_t {
  Baseline,  ///< SSE2: available on every x86-64 processor
  V3,        ///< AVX2 and FMA
  V4,        ///< AVX-512 F, BW, CD, DQ, VL
};

/// The names "baseline", "v3", "v4".
std::string_view name_of(InstructionSet set);
/// The levels of this processor, lowest first.
std::span<const InstructionSet> available_instruction_sets();
/// The best available level, or the one in the environment variable EINDB_ISA if that is lower. Read once.
InstructionSet preferred_instruction_set();
/// Whether the processor multiplies bytes (AVX-512 VNNI), beyond the level V4.
bool multiplies_bytes();
/// The kernels of a level. Calling them requires a processor with that level.
const LevelTable& level_table(InstructionSet set);
const LevelTable& preferred_level_table();

}  // namespace eindb
