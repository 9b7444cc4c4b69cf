#include "tests/trial_counts.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <iostream>
#include <map>
#include <utility>

namespace eindb::testing {
namespace {

struct Count {
  std::size_t tries = 0;
  std::size_t failed = 0;
};

/// Prints the counts after all tests.
class Counts final : public ::testing::Environment {
 public:
  void count(const std::string& kind, std::size_t tries, std::size_t failed) {
    auto& count = counts_[kind];
    count.tries += tries;
    count.failed += failed;
  }

  void TearDown() override {
    for (const auto& [kind, count] : counts_)
      std::cout << "reliability " << kind << " tries=" << count.tries << " failed=" << count.failed << "\n";
  }

 private:
  std::map<std::string, Count> counts_;
};

// GoogleTest owns it.
auto* const counts = static_cast<Counts*>(::testing::AddGlobalTestEnvironment(new Counts));

int result_parts() { return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); }

}  // namespace

Trial::Trial(std::string kind) : kind_(std::move(kind)), parts_before_(result_parts()) {}

Trial::~Trial() {
  if (counts_) count_trials(kind_, 1, result_parts() == parts_before_ ? 0 : 1);
}

std::size_t number_from_environment(const char* name, std::size_t without) {
  const char* text = ::getenv(name);
  return text == nullptr ? without : std::stoull(text);
}

void count_trials(const std::string& kind, std::size_t tries, std::size_t failed) {
  counts->count(kind, tries, failed);
}

}  // namespace eindb::testing
