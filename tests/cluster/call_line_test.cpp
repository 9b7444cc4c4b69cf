#include "cluster/call_line.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "common/error.hpp"
#include "tests/cluster/memory_network.hpp"

namespace eindb {
namespace {

using namespace std::chrono_literals;

std::span<const std::byte> message_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(const std::optional<std::vector<std::byte>>& message) {
  if (!message) return "(nothing)";
  std::string text;
  for (const auto byte : *message) text += static_cast<char>(byte);
  return text;
}

// Two connected lines, the caller's and the answering side's.
struct Lines {
  Lines() {
    std::unique_ptr<Channel> other;
    network.listen("answering", [&](std::unique_ptr<Channel> channel) { other = std::move(channel); });
    caller = std::make_unique<CallLine>(network.connect("answering", 1s));
    answering = std::make_unique<CallLine>(std::move(other));
  }

  MemoryNetwork network;
  std::unique_ptr<CallLine> caller;
  std::unique_ptr<CallLine> answering;
};

TEST(CallLine, CarriesWhatIsSaidBothWays) {
  Lines lines;
  const auto calling = lines.caller->call("a database");
  const auto call = lines.answering->answer();
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->subject, "a database");
  calling->send(message_bytes("hello"));
  calling->send({});
  call->channel->send(message_bytes("welcome"));
  EXPECT_EQ(text_of(call->channel->receive(4min)), "hello");
  EXPECT_EQ(text_of(call->channel->receive(4min)), "");
  EXPECT_EQ(text_of(calling->receive(4min)), "welcome");
  EXPECT_FALSE(calling->receive(1ms).has_value());
}

TEST(CallLine, CloseEndsTheCallAtBothSidesAfterWhatWasSaid) {
  Lines lines;
  const auto calling = lines.caller->call("");
  const auto call = lines.answering->answer();
  calling->send(message_bytes("the last words"));
  calling->close();
  EXPECT_THROW(calling->send({}), Error);
  EXPECT_THROW(static_cast<void>(calling->receive(4min)), Error);
  EXPECT_EQ(text_of(call->channel->receive(4min)), "the last words");
  EXPECT_THROW(static_cast<void>(call->channel->receive(4min)), Error);
  EXPECT_THROW(call->channel->send({}), Error);
}

TEST(CallLine, CloseWakesWhoWaits) {
  Lines lines;
  const auto calling = lines.caller->call("");
  auto waiting = std::async(std::launch::async, [&] { static_cast<void>(calling->receive(4min)); });
  std::this_thread::sleep_for(5ms);
  calling->close();
  ASSERT_EQ(waiting.wait_for(4min), std::future_status::ready);
  EXPECT_THROW(waiting.get(), Error);
}

// Late messages of an ended call reach neither the side that answers the next call nor the caller.
TEST(CallLine, CallsDoNotHearOfEachOther) {
  Lines lines;
  auto first = lines.caller->call("first");
  auto first_answer = lines.answering->answer();
  first->send(message_bytes("too late to be heard"));
  first_answer->channel->send(message_bytes("so is this"));
  first.reset();
  const auto second = lines.caller->call("second");
  second->send(message_bytes("of the second"));
  EXPECT_EQ(text_of(first_answer->channel->receive(4min)), "too late to be heard");
  EXPECT_THROW(static_cast<void>(first_answer->channel->receive(4min)), Error);
  first_answer.reset();
  const auto answer = lines.answering->answer();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->subject, "second");
  EXPECT_EQ(text_of(answer->channel->receive(4min)), "of the second");
  answer->channel->send(message_bytes("to the second"));
  EXPECT_EQ(text_of(second->receive(4min)), "to the second");
}

// After a call that was not answered in time, the next one is answered.
TEST(CallLine, CallsThatHaveEndedAreAnsweredInTheirOrder) {
  Lines lines;
  lines.caller->call("first")->send(message_bytes("is anybody there?"));
  const auto second = lines.caller->call("second");
  auto answer = lines.answering->answer();
  EXPECT_EQ(answer->subject, "first");
  EXPECT_EQ(text_of(answer->channel->receive(4min)), "is anybody there?");
  EXPECT_THROW(static_cast<void>(answer->channel->receive(4min)), Error);
  answer.reset();
  EXPECT_EQ(lines.answering->answer()->subject, "second");
}

TEST(CallLine, HangingUpEndsCalls) {
  Lines lines;
  lines.caller->call("");
  lines.caller->hang_up();
  {
    const auto call = lines.answering->answer();
    ASSERT_TRUE(call.has_value());
    EXPECT_THROW(static_cast<void>(call->channel->receive(4min)), Error);
  }
  EXPECT_FALSE(lines.answering->answer().has_value());
}

TEST(CallLine, RefusesWhatIsNoMessageOfACall) {
  for (const std::string& message : {std::string(), std::string(8, '\0'), std::string(8, '\0') + '\4'}) {
    MemoryNetwork network;
    std::unique_ptr<Channel> other;
    network.listen("answering", [&](std::unique_ptr<Channel> channel) { other = std::move(channel); });
    const auto raw = network.connect("answering", 1s);
    CallLine line(std::move(other));
    raw->send(message_bytes(message));
    try {
      line.answer();
      FAIL() << "a message of " << message.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
    }
  }
}

}  // namespace
}  // namespace eindb
