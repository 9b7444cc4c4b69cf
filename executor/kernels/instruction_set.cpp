#include "executor/kernels/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

// The only symbol visible in each level's object, see CMakeLists.txt.
extern "C" const eindb::LevelTable* eindb_kernels_level_baseline();
#ifdef EINDB_BASELINE_ALONE
constexpr auto* eindb_kernels_level_v3 = eindb_kernels_level_baseline;
constexpr auto* eindb_kernels_level_v4 = eindb_kernels_level_baseline;
#else
extern "C" const eindb::LevelTable* eindb_kernels_level_v3();
extern "C" const eindb::LevelTable* eindb_kernels_level_v4();
#endif

namespace eindb {
namespace {

constexpr std::array kSets{InstructionSet::Baseline, InstructionSet::V3, InstructionSet::V4};

bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}

bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

InstructionSet choose() {
  const auto best = available_instruction_sets().back();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, before anything could change the environment
  const char* wanted = std::getenv("EINDB_ISA");
  if (wanted == nullptr) return best;
  for (const auto set : kSets)
    if (name_of(set) == wanted) return std::min(set, best);
  return best;
}

}  // namespace

std::string_view name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::Baseline: return "baseline";
    case InstructionSet::V3: return "v3";
    case InstructionSet::V4: return "v4";
  }
  return "?";
}

std::span<const InstructionSet> available_instruction_sets() {
  static const std::size_t count = has_v4() ? 3 : has_v3() ? 2 : 1;
  return std::span(kSets).first(count);
}

InstructionSet preferred_instruction_set() {
  static const InstructionSet chosen = choose();
  return chosen;
}

bool multiplies_bytes() {
  static const bool known = has_v4() && __builtin_cpu_supports("avx512vnni");
  return known;
}

const LevelTable& level_table(InstructionSet set) {
  switch (set) {
    case InstructionSet::Baseline: break;
    case InstructionSet::V3: return *eindb_kernels_level_v3();
    case InstructionSet::V4: return *eindb_kernels_level_v4();
  }
  return *eindb_kernels_level_baseline();
}

const LevelTable& preferred_level_table() { return level_table(preferred_instruction_set()); }

}  // namespace eindb
