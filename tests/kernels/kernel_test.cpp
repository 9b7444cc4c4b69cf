#include "executor/kernels/kernel.hpp"

#include <gtest/gtest.h>

#include "tensor/reference_evaluator.hpp"
#include "tests/kernels/random_einsum.hpp"

namespace eindb {
namespace {

class KernelTest : public testing::TestWithParam<InstructionSet> {
 protected:
  const LevelTable& level() const { return level_table(GetParam()); }

  void expect_reference(const RandomEinSum& sample, Random& random) const {
    const auto expected =
        evaluate_reference(sample.einsum, sample.labels, sample.pointers(), sample.compute, sample.result);
    const auto actual = run_in_parts(sample, level(), random);
    double terms = 1;
    for (const auto label : sample.einsum.aggregated) terms *= static_cast<double>(sample.labels.extent(label));
    expect_close(actual, expected, sample.compute, terms, sample.describe());
  }
};

std::string name_of_level(const testing::TestParamInfo<InstructionSet>& level) { return std::string(name_of(level.param)); }
INSTANTIATE_TEST_SUITE_P(AllLevels, KernelTest, testing::ValuesIn(available_instruction_sets().begin(),
                                                                  available_instruction_sets().end()), name_of_level);

// Every expression, aggregate, type, label pattern and cutting agrees with the oracle.
TEST_P(KernelTest, AgreesWithReferenceOnRandomExpressions) {
  Random random(20240501);
  for (int n = 0; n < 3000 && !HasFatalFailure(); ++n) expect_reference(random_general(random), random);
}

TEST_P(KernelTest, AgreesWithReferenceOnRandomContractions) {
  Random random(7);
  for (const auto type : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64})
    for (int n = 0; n < 150 && !HasFatalFailure(); ++n) expect_reference(random_contraction(random, type, 6), random);
}

}  // namespace
}  // namespace eindb
