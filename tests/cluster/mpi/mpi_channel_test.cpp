#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>

#include "common/error.hpp"
#include "tests/cluster/mpi/world_of_tests.hpp"

namespace eindb {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

/// Message n from a rank; sizes are zero, a few bytes, or several chunks.
Bytes message_of(Rank from, std::size_t n) {
  constexpr std::array<std::size_t, 4> kSizes{0, 1, 5000, 1'000'003};
  Bytes bytes(kSizes[(n + from) % kSizes.size()]);
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = std::byte((at * 31 + n * 7 + from) % 251);
  return bytes;
}

/// A rank's channels; created once per process.
std::map<Rank, std::unique_ptr<Channel>> open_channels() {
  std::map<Rank, std::unique_ptr<Channel>> channels;
  auto& world = *world_of_tests();
  for (std::size_t peer = 0; peer < world.size(); ++peer)
    if (peer != world.rank()) channels.emplace(peer, world.channel(static_cast<Rank>(peer)));
  return channels;
}

void expect_messages(Channel& channel, Rank from, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) {
    const auto message = channel.receive(10s);
    ASSERT_TRUE(message.has_value()) << "message " << n << " from " << from;
    EXPECT_TRUE(*message == message_of(from, n)) << "message " << n << " from " << from;
  }
}

// Messages of all sizes arrive whole and in order, even if several threads send and receive and more messages are
// queued than may wait; after them, both ends see that the channel is closed.
TEST(MpiChannel, CarriesWholeMessagesInOrderUntilItIsClosed) {
  constexpr std::size_t kMessages = 80;
  const auto self = world_of_tests()->rank();
  auto channels = open_channels();
  std::vector<std::jthread> threads;
  for (auto& [peer, channel] : channels) {
    EXPECT_EQ(channel->peer(), "rank " + std::to_string(peer));
    threads.emplace_back([&channel = *channel, self] {
      for (std::size_t n = 0; n < kMessages; ++n) channel.send(message_of(self, n));
    });
    threads.emplace_back([&channel = *channel, from = peer] { expect_messages(channel, from, kMessages); });
  }
  threads.clear();
  for (auto& [peer, channel] : channels) {
    if (self > peer) EXPECT_THROW(static_cast<void>(channel->receive(10s)), Error);
    else EXPECT_FALSE(channel->receive(1ms).has_value());
    if (self < peer) {
      std::jthread closing([&channel = *channel] {
        std::this_thread::sleep_for(5ms);
        channel.close();
      });
      EXPECT_THROW(static_cast<void>(channel->receive(10s)), Error) << "closing wakes who waits";
    }
    EXPECT_THROW(channel->send({}), Error);
    channel->close();
  }
}

}  // namespace
}  // namespace eindb
