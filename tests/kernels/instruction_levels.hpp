#pragma once

#include <gtest/gtest.h>

#include <string>

#include "executor/kernels/level_table.hpp"

namespace eindb {

/// The name of a test that runs with the kernels of one instruction-set level.
inline std::string name_of_level(const testing::TestParamInfo<InstructionSet>& level) {
  return std::string(name_of(level.param));
}

}  // namespace eindb
