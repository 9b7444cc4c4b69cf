#include "server/statements/progress_notices.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace eindb {
namespace {

using Clock = ProgressText::Clock;
using std::chrono::seconds;

TEST(ProgressText, GuessesWhatIsLeft) {
  const Clock::time_point start;
  ProgressText text;
  EXPECT_EQ(text.describe({"join", 100, 1000}, start), "join: 10 %");
  EXPECT_EQ(text.describe({"join", 110, 1000}, start + seconds(1)), "join: 11 %");
  EXPECT_EQ(text.describe({"join", 200, 1000}, start + seconds(10)), "join: 20 %, about 80 s left");
  EXPECT_EQ(text.describe({"repartition", 300, 1000}, start + seconds(60)), "repartition: 30 %, about 4 min left");
  EXPECT_EQ(text.describe({"join", 1000, 1000}, start + seconds(90)), "join: 100 %, about 0 s left");
}

TEST(ProgressText, OtherWorkIsGuessedAnew) {
  const Clock::time_point start;
  ProgressText text;
  text.describe({"join", 0, 10}, start);
  text.describe({"join", 9, 10}, start + seconds(100));
  EXPECT_EQ(text.describe({"export", 0, 10}, start + seconds(100)), "export: 0 %");
  EXPECT_EQ(text.describe({"export", 5, 10}, start + seconds(101)), "export: 50 %, about 1 s left");
}

TEST(ProgressText, WorkOfUnknownExtent) { EXPECT_EQ(ProgressText().describe({"import", 7, 0}, {}), "import: 7"); }

// A client that reads now and then.
class Client final : public InterimOutput {
 public:
  bool is_ready() override {
    ++asked;
    return ready;
  }
  void send(MessageWriter& out) override { sent += std::exchange(out.buffer(), {}); }

  bool ready = true;
  int asked = 0;
  std::string sent;
};

// Runs statements while `goes_on`: the first notice takes half a second. The limit ends a hang.
template <class F>
void work(Session& session, F goes_on) {
  const auto end = Clock::now() + seconds(240);
  while (goes_on() && Clock::now() < end) session.execute("EINSUM Z[i,k] = SUM(X[i,j] * X[j,k])");
}

class ProgressNoticesTest : public ::testing::Test {
 protected:
  ProgressNoticesTest() { session_.execute("CREATE TENSOR X AS EINSUM X[i 300, j 300] = i - j"); }

  Session session_{":memory:"};
  Client client_;
  MessageWriter out_;
};

TEST_F(ProgressNoticesTest, GoWithWhatWasWrittenBefore) {
  out_.empty('1');
  {
    const ProgressNotices notices(session_, client_, out_);
    work(session_, [&] { return client_.sent.empty(); });
  }
  EXPECT_TRUE(client_.sent.starts_with(std::string("1\0\0\0\4N", 6)));
  EXPECT_NE(client_.sent.find("SINFO"), std::string::npos);
  EXPECT_NE(client_.sent.find(" %"), std::string::npos);
  EXPECT_EQ(out_.size(), 0U);
}

TEST_F(ProgressNoticesTest, AClientThatDoesNotReadMissesThem) {
  client_.ready = false;
  const ProgressNotices notices(session_, client_, out_);
  work(session_, [&] { return client_.asked == 0; });
  EXPECT_GE(client_.asked, 1);
  EXPECT_EQ(client_.sent, "");
  EXPECT_EQ(out_.size(), 0U);
}

}  // namespace
}  // namespace eindb
