#include "cluster/handshake.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "common/error.hpp"

namespace eindb {
namespace {

using Side = Handshake::Side;

const ClusterSecret kSharedSecret = ClusterSecret::of("sixteen bytes or more");

/// Both sides of a handshake, and the errors they threw.
struct Pair {
  Handshake connecting;
  Handshake accepting;
  std::optional<Error> connecting_error = std::nullopt;
  std::optional<Error> accepting_error = std::nullopt;
};

Pair pair_of(const ClusterSecret& one, const ClusterSecret& other, std::uint16_t version = kClusterProtocolVersion) {
  return {.connecting = {Side::Connects, one, {.purpose = ConnectionPurpose::Data, .node = "ada"}, "", version},
          .accepting = {Side::Accepts, other, {.node = "bob"}}};
}

/// Passes one side's output to the other, `piece` bytes at a time; false if there is none.
bool carry(Handshake& from, Handshake& to, std::optional<Error>& error, std::size_t piece) {
  const auto output = from.take_output();
  auto rest = std::as_bytes(std::span(output));
  const bool moved = !rest.empty();
  while (!rest.empty() && !error && to.wanted() > 0) {
    const auto count = std::min({piece, rest.size(), to.wanted()});
    try {
      to.receive(rest.first(count));
    } catch (const Error& e) {
      error = e;
    }
    rest = rest.subspan(count);
  }
  return moved;
}

void run(Pair& pair, std::size_t piece = 1000) {
  bool moved = true;
  while (moved) {
    moved = carry(pair.connecting, pair.accepting, pair.accepting_error, piece);
    moved |= carry(pair.accepting, pair.connecting, pair.connecting_error, piece);
  }
}

TEST(Handshake, NodesWithTheSameSecretKnowEachOtherAndShareKeys) {
  for (const std::size_t piece : {1, 2, 13, 1000}) {
    auto pair = pair_of(kSharedSecret, kSharedSecret);
    run(pair, piece);
    ASSERT_TRUE(pair.connecting.is_done() && pair.accepting.is_done());
    EXPECT_EQ(pair.accepting.peer().node, "ada");
    EXPECT_EQ(pair.accepting.peer().purpose, ConnectionPurpose::Data);
    EXPECT_EQ(pair.connecting.peer().node, "bob");
    const auto ours = pair.connecting.keys();
    const auto theirs = pair.accepting.keys();
    EXPECT_EQ(ours.sending.bytes, theirs.receiving.bytes);
    EXPECT_EQ(ours.receiving.bytes, theirs.sending.bytes);
    EXPECT_NE(ours.sending.bytes, ours.receiving.bytes);
  }
}

TEST(Handshake, EachConnectionHasKeysOfItsOwn) {
  auto one = pair_of(kSharedSecret, kSharedSecret);
  auto other = pair_of(kSharedSecret, kSharedSecret);
  run(one);
  run(other);
  EXPECT_NE(one.connecting.keys().sending.bytes, other.connecting.keys().sending.bytes);
}

TEST(Handshake, AnotherSecretIsRefusedByBothSides) {
  auto pair = pair_of(kSharedSecret, ClusterSecret());
  run(pair);
  ASSERT_TRUE(pair.accepting_error && pair.connecting_error);
  EXPECT_EQ(pair.accepting_error->kind(), ErrorKind::Permission);
  EXPECT_EQ(pair.connecting_error->kind(), ErrorKind::Permission);
  EXPECT_EQ(pair.connecting_error->message(), "the nodes do not have the same secret");
  EXPECT_NE(pair.connecting_error->hint().find("--secret-file"), std::string::npos);
}

// A stranger that listens in place of a node must prove the secret too, even if it accepts without knowing it.
TEST(Handshake, SideThatAcceptsHasToProveTheSecretToo) {
  auto pair = pair_of(kSharedSecret, kSharedSecret);
  carry(pair.connecting, pair.accepting, pair.accepting_error, 1000);
  carry(pair.accepting, pair.connecting, pair.connecting_error, 1000);
  carry(pair.connecting, pair.accepting, pair.accepting_error, 1000);
  auto acceptance = pair.accepting.take_output();
  acceptance.back() = static_cast<char>(acceptance.back() ^ 1);
  EXPECT_THROW(pair.connecting.receive(std::as_bytes(std::span(acceptance)).first(Handshake::kHeadBytes));
               pair.connecting.receive(std::as_bytes(std::span(acceptance)).subspan(Handshake::kHeadBytes)), Error);
  EXPECT_FALSE(pair.connecting.is_done());
}

TEST(Handshake, AnotherVersionIsToldBothVersions) {
  auto pair = pair_of(kSharedSecret, kSharedSecret, 2);
  run(pair);
  ASSERT_TRUE(pair.accepting_error && pair.connecting_error);
  EXPECT_EQ(pair.connecting_error->kind(), ErrorKind::Unsupported);
  EXPECT_EQ(pair.connecting_error->message(),
            "one node speaks version 1 of the cluster's protocol, the other version 2");
}

// With TLS, a proof is valid only on its own connection.
TEST(Handshake, ProofIsBoundToTheChannel) {
  Pair pair{.connecting = {Side::Connects, kSharedSecret, {}, "certificate"},
            .accepting = {Side::Accepts, kSharedSecret, {}, "other"}};
  run(pair);
  ASSERT_TRUE(pair.accepting_error);
  EXPECT_EQ(pair.accepting_error->kind(), ErrorKind::Permission);
}

TEST(Handshake, RecordedProofIsOfNoUseLater) {
  auto recorded = pair_of(kSharedSecret, kSharedSecret);
  const auto hello = recorded.connecting.take_output();
  std::optional<Error> error;
  const auto receive = [&](Handshake& to, const std::string& bytes) {
    auto rest = std::as_bytes(std::span(bytes));
    while (!rest.empty()) {
      const auto count = std::min(rest.size(), to.wanted());
      to.receive(rest.first(count));
      rest = rest.subspan(count);
    }
  };
  receive(recorded.accepting, hello);
  receive(recorded.connecting, recorded.accepting.take_output());
  const auto proof = recorded.connecting.take_output();

  Handshake later(Side::Accepts, kSharedSecret, {.node = "bob"});
  receive(later, hello);
  later.take_output();
  EXPECT_THROW(receive(later, proof), Error);
  EXPECT_FALSE(later.is_done());
}

// Every byte sent by the connecting side is changed in one bit: the handshake never succeeds.
TEST(Handshake, AlteredBytesLetNobodyIn) {
  for (std::size_t at = 0; at < 200; ++at) {
    auto pair = pair_of(kSharedSecret, kSharedSecret);
    std::size_t sent = 0;
    bool altered = false;
    for (int message = 0; message < 2 && !pair.accepting_error; ++message) {
      auto output = pair.connecting.take_output();
      // A changed name is still a valid name.
      const bool is_name = message == 0 && at >= output.size() - 3;
      if (at >= sent && at < sent + output.size() && !is_name) {
        output[at - sent] = static_cast<char>(output[at - sent] ^ 1);
        altered = true;
      }
      sent += output.size();
      auto rest = std::as_bytes(std::span(output));
      while (!rest.empty() && !pair.accepting_error && pair.accepting.wanted() > 0) {
        const auto count = std::min(rest.size(), pair.accepting.wanted());
        try {
          pair.accepting.receive(rest.first(count));
        } catch (const Error& e) {
          pair.accepting_error = e;
        }
        rest = rest.subspan(count);
      }
      carry(pair.accepting, pair.connecting, pair.connecting_error, 1000);
    }
    EXPECT_EQ(pair.accepting.is_done(), !altered) << "byte " << at;
  }
}

TEST(Handshake, LengthBeyondAnyMessageIsRefusedAtOnce) {
  Handshake accepting(Side::Accepts, kSharedSecret, {});
  const std::string head("EINH\1\0\1\0\xFF\xFF\xFF\x7F", 12);
  EXPECT_THROW(accepting.receive(std::as_bytes(std::span(head))), Error);
}

TEST(Handshake, NamesAreMadePrintable) {
  Pair pair{.connecting = {Side::Connects, kSharedSecret, {.node = "a\nb\x1b[31m"}},
            .accepting = {Side::Accepts, kSharedSecret, {}}};
  run(pair);
  EXPECT_EQ(pair.accepting.peer().node, "a?b?[31m");
}

}  // namespace
}  // namespace eindb
