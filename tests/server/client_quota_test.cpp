#include "server/sessions/client_quota.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "common/coded_error.hpp"

namespace eindb {
namespace {

class ClientQuotaTest : public ::testing::Test {
 protected:
  // The code of the error for one more item; nullopt if it is accepted.
  std::optional<std::string> refusal(std::size_t bytes) {
    try {
      shares_.push_back(quota_.take(bytes));
      return std::nullopt;
    } catch (const CodedError& error) {
      return std::string(error.sqlstate());
    }
  }

  ClientQuota quota_{"things", "end some", 3, 100};
  std::vector<ClientQuota::Share> shares_;
};

TEST_F(ClientQuotaTest, SoManyThings) {
  for (int n = 0; n < 3; ++n) EXPECT_EQ(refusal(0), std::nullopt);
  EXPECT_EQ(refusal(0), "53400");
  shares_.pop_back();
  EXPECT_EQ(refusal(0), std::nullopt);
}

TEST_F(ClientQuotaTest, SoManyBytes) {
  EXPECT_EQ(refusal(101), "53400");
  EXPECT_EQ(refusal(100), std::nullopt);
  EXPECT_EQ(refusal(1), "53400");
  shares_.clear();
  EXPECT_EQ(refusal(SIZE_MAX), "53400");
  EXPECT_EQ(refusal(60), std::nullopt);
}

TEST_F(ClientQuotaTest, AShareIsGivenBackOnce) {
  auto share = quota_.take(100);
  auto moved = std::move(share);
  EXPECT_EQ(refusal(1), "53400");
  moved = ClientQuota::Share();
  EXPECT_EQ(refusal(100), std::nullopt);
  EXPECT_EQ(refusal(1), "53400");
}

}  // namespace
}  // namespace eindb
