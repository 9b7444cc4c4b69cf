// Nodes among themselves and among strangers: a peer that sends invalid data is disconnected with a line in the log,
// and all others continue.

#include "cluster/tcp_node.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <thread>

#include "cluster/peer_lost.hpp"
#include "common/error.hpp"
#include "common/file_descriptor.hpp"
#include "tests/cluster/local_nodes.hpp"
#include "tests/cluster/raw_peer.hpp"
#include "tests/cluster/virtual_time.hpp"
#include "tests/executor/rank_threads.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

constexpr const char* kSecretText = "a secret of the cluster";
const ClusterSecret kClusterSecret = ClusterSecret::of(kSecretText);

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_in_bytes(const std::optional<Bytes>& bytes) {
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "nothing";
}

template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ErrorKind::Internal, ""};
}

/// A node that keeps the channels opened to it.
class Listener {
 public:
  explicit Listener(TcpNodeOptions options = local_options(kSecretText)) {
    options.log = [this](std::string_view line) { log.add(line); };
    options.handshake_time = 300ms;
    options.on_channel = [this](std::unique_ptr<Channel> channel, const std::string& /*name*/) {
      const std::lock_guard lock(mutex_);
      channels_.push_back(std::move(channel));
      changed_.notify_all();
    };
    node.emplace(std::move(options));
  }

  std::unique_ptr<Channel> next_channel() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 4min, [&] { return !channels_.empty(); })) return nullptr;
    auto channel = std::move(channels_.front());
    channels_.pop_front();
    return channel;
  }

  /// Checks that it still serves other nodes.
  void expect_to_go_on() {
    TcpNode other(local_options(kSecretText));
    const auto ours = other.connect(address_of(*node));
    const auto theirs = next_channel();
    ASSERT_NE(theirs, nullptr);
    ours->send(bytes_of("hello"));
    EXPECT_EQ(text_in_bytes(theirs->receive(4min)), "hello");
  }

  LoggedLines log;

 private:
  std::mutex mutex_;  // guards channels_
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Channel>> channels_;

 public:
  std::optional<TcpNode> node;  // destroyed first
};

// ---- Who may be a node ---------------------------------------------------------------------------------------------

TEST(TcpNode, AnotherSecretIsRefusedAfterAWhile) {
  Listener listener;
  TcpNode stranger(local_options("another secret"));
  const auto begin = std::chrono::steady_clock::now();
  const auto error = error_of([&] { stranger.connect(address_of(*listener.node)); });
  EXPECT_EQ(error.kind(), ErrorKind::Permission);
  EXPECT_NE(error.message().find("the nodes do not have the same secret"), std::string::npos);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 900ms) << "guessing has to take its time";
  EXPECT_TRUE(listener.log.has("refused: the nodes do not have the same secret"));
  listener.expect_to_go_on();
}

TEST(TcpNode, WithoutASecretItStaysOnThisMachine) {
  auto options = local_options();
  options.listen = "0.0.0.0:0";
  const auto listening = error_of([&] { TcpNode node(options); });
  EXPECT_EQ(listening.kind(), ErrorKind::Permission);
  EXPECT_NE(listening.hint().find("--secret-file"), std::string::npos);
  TcpNode node(local_options());
  EXPECT_EQ(error_of([&] { node.connect("192.0.2.1:7700"); }).kind(), ErrorKind::Permission);
  EXPECT_EQ(error_of([&] { node.connect("nowhere"); }).kind(), ErrorKind::Value);
}

TEST(TcpNode, NobodyAnswersIsAnErrorThatNamesTheAddress) {
  std::string address;
  {
    TcpNode gone(local_options());
    address = address_of(gone);
  }
  TcpNode node(local_options());
  const auto error = error_of([&] { node.connect(address); });
  EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
  EXPECT_NE(error.message().find(address), std::string::npos) << error.message();
}

TEST(ClusterSecret, IsTheFirstLineOfAPrivateFile) {
  const ScratchDirectory scratch;
  const auto path = scratch.file("secret");
  write_file(path, std::string(kSecretText) + "\nwhat follows is no part of it\n");
  namespace fs = std::filesystem;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(ClusterSecret::from_file(path).key().bytes, kClusterSecret.key().bytes);
  EXPECT_TRUE(ClusterSecret::from_file(path).is_given());
  fs::permissions(path, fs::perms::others_read, fs::perm_options::add);
  EXPECT_EQ(error_of([&] { ClusterSecret::from_file(path); }).kind(), ErrorKind::Value);
  const auto empty = scratch.file("short");
  write_file(empty, "short\n");
  fs::permissions(empty, fs::perms::owner_read);
  EXPECT_NE(error_of([&] { ClusterSecret::from_file(empty); }).message().find("too short"), std::string::npos);
  EXPECT_EQ(error_of([&] { ClusterSecret::from_file(scratch.file("none")); }).kind(), ErrorKind::Io);
}

// ---- Strangers -----------------------------------------------------------------------------------------------------

TEST(TcpNode, StrangersAreClosedAndLogged) {
  Listener listener;
  const std::string huge("EINH\1\0\1\0\xFF\xFF\xFF\x7F", 12);
  for (const auto& bytes : {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), huge, std::string(5000, '\0')}) {
    RawPeer stranger(listener.node->port());
    stranger.send(bytes);
    EXPECT_TRUE(stranger.is_closed());
  }
  EXPECT_TRUE(listener.log.has("refused: the other side is no node of a cluster"));
  EXPECT_TRUE(listener.log.has("refused: a message of the handshake is malformed"));
  listener.expect_to_go_on();
}

TEST(TcpNode, SilenceIsNotWaitedForLong) {
  Listener listener;
  RawPeer silent(listener.node->port());
  RawPeer half(listener.node->port());
  half.send(std::string("EINH\1\0", 6));
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(half.is_closed());
  EXPECT_TRUE(listener.log.has("said nothing for too long"));
  listener.expect_to_go_on();
}

TEST(TcpNode, AnotherVersionIsToldWhy) {
  Listener listener;
  RawPeer other(listener.node->port());
  Handshake newer(Handshake::Side::Connects, kClusterSecret, {}, "", 2);
  other.send(newer.take_output());
  EXPECT_TRUE(other.is_closed());
  EXPECT_TRUE(listener.log.has("one node speaks version 1 of the cluster's protocol, the other version 2"));
}

TEST(TcpNode, ManySilentStrangersKeepNobodyOut) {
  auto options = local_options(kSecretText);
  Listener listener(options);
  std::vector<std::unique_ptr<RawPeer>> strangers;
  for (int n = 0; n < 300; ++n) strangers.push_back(std::make_unique<RawPeer>(listener.node->port()));
  listener.expect_to_go_on();
}

// ---- Frames --------------------------------------------------------------------------------------------------------

constexpr FrameHeader kMessage{.kind = FrameKind::Message, .total = 5};

/// A peer after the handshake, and the node's channel to it.
struct RawChannel {
  explicit RawChannel(Listener& listener, std::size_t piece = 1000) : peer(listener.node->port()) {
    peer.authenticate(kClusterSecret, ConnectionPurpose::Control, piece);
    channel = listener.next_channel();
  }

  void expect_closed(Listener& listener, const std::string& why) {
    EXPECT_TRUE(peer.is_closed());
    EXPECT_TRUE(listener.log.has(why)) << why;
    EXPECT_EQ(error_of([&] { channel->receive(4min); }).kind(), ErrorKind::WorkerLost);
  }

  RawPeer peer;
  std::unique_ptr<Channel> channel;
};

TEST(TcpNode, FramesMayComeByteByByte) {
  Listener listener;
  RawChannel raw(listener, 1);
  ASSERT_NE(raw.channel, nullptr);
  EXPECT_TRUE(raw.peer.send_bytewise(raw.peer.frame(kMessage, {}, "hello")));
  EXPECT_EQ(text_in_bytes(raw.channel->receive(4min)), "hello");
}

TEST(TcpNode, RepeatedFrameClosesTheConnection) {
  Listener listener;
  RawChannel raw(listener);
  const auto frame = raw.peer.frame(kMessage, {}, "hello");
  raw.peer.send(frame + frame);
  EXPECT_EQ(text_in_bytes(raw.channel->receive(4min)), "hello");
  raw.expect_closed(listener, "closed: a frame is not the next one");
  listener.expect_to_go_on();
}

TEST(TcpNode, FrameOfAnotherConnectionClosesIt) {
  Listener listener;
  RawChannel one(listener);
  RawChannel other(listener);
  other.peer.send(one.peer.frame(kMessage, {}, "hello"));
  other.expect_closed(listener, "closed: a frame has a wrong authentication code");
  listener.expect_to_go_on();
}

// One changed bit in each field of the header, and one in the payload.
TEST(TcpNode, AlteredFrameClosesTheConnection) {
  Listener listener;
  for (const std::size_t at : {0, 4, 6, 7, 8, 16, 24, 32, 36, 40, 48, 64, 68}) {
    RawChannel raw(listener);
    auto frame = raw.peer.frame(kMessage, {}, "hello");
    frame[at] = static_cast<char>(frame[at] ^ 1);
    // The node waits for a head of one byte, which is not this frame's.
    raw.peer.send(frame);
    raw.expect_closed(listener, "closed: a frame ");
  }
  listener.expect_to_go_on();
}

TEST(TcpNode, FrameThatEndsInTheMiddleIsNoMessage) {
  Listener listener;
  std::unique_ptr<Channel> channel;
  {
    RawChannel raw(listener);
    raw.peer.send(raw.peer.frame(kMessage, {}, "hello").substr(0, 66));
    channel = std::move(raw.channel);
  }
  EXPECT_EQ(error_of([&] { channel->receive(4min); }).kind(), ErrorKind::WorkerLost);
  listener.expect_to_go_on();
}

// An authenticated peer that sends nonsense.
TEST(TcpNode, MessageBeyondAnyLimitTakesNoMemory) {
  Listener listener;
  RawChannel raw(listener);
  raw.peer.send(raw.peer.frame({.kind = FrameKind::Message, .total = std::uint64_t{1} << 40U}, {}, "hello"));
  raw.expect_closed(listener, "closed: a frame is no piece of a message");
}

// Messages that have begun have their memory; others wait, and closed connections free theirs.
TEST(TcpNode, MessagesThatDoNotEndTakeNoMoreThanTheirPart) {
  constexpr std::int64_t kPart = std::int64_t{4} << 20U;
  constexpr std::size_t kMessage = std::size_t{1536} << 10U;
  auto options = local_options(kSecretText);
  options.messages = std::make_shared<MessageMemory>(kPart);
  Listener listener(options);
  std::deque<RawPeer> peers;
  const std::string piece(kMostFramePayload, 'x');
  const auto send_piece = [&](RawPeer& peer) {
    return peer.send(peer.frame({.kind = FrameKind::Message, .total = kMessage}, {}, piece));
  };
  for (int n = 0; n < 40; ++n) {
    peers.emplace_back(listener.node->port()).authenticate(kClusterSecret, ConnectionPurpose::Control);
    send_piece(peers.back());
  }
  const auto comes_to_hold = [&](std::int64_t bytes) {
    for (int left = 24000; left > 0 && options.messages->held() != bytes; --left) std::this_thread::sleep_for(10ms);
    return options.messages->held();
  };
  EXPECT_EQ(comes_to_hold(2 * kMessage), 2 * kMessage) << "of forty two have their part, and fit the limit";
  std::deque<std::unique_ptr<Channel>> channels;
  while (channels.size() < peers.size()) channels.push_back(listener.next_channel());
  while (!peers.empty()) peers.pop_front();
  channels.clear();
  EXPECT_EQ(comes_to_hold(0), 0);
  listener.expect_to_go_on();
}

TEST(TcpNode, DataBetweenStatementsClosesTheConnection) {
  Listener listener;
  RawPeer raw(listener.node->port());
  raw.authenticate(kClusterSecret, ConnectionPurpose::Data);
  raw.send(raw.frame({.kind = FrameKind::Piece, .stream = 1, .total = 5}, {}, "hello"));
  EXPECT_TRUE(raw.is_closed());
  EXPECT_TRUE(listener.log.has("closed: a frame does not bind the connection to a statement"));
  listener.expect_to_go_on();
}

// ---- Channels ------------------------------------------------------------------------------------------------------

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() : other_(std::in_place, local_options(kSecretText)) {
    ours_ = other_->connect(address_of(*listener_.node));
    theirs_ = listener_.next_channel();
  }

  Listener listener_;
  std::optional<TcpNode> other_;
  std::unique_ptr<Channel> ours_;
  std::unique_ptr<Channel> theirs_;
};

TEST_F(ChannelTest, MessagesComeWholeAndInOrder) {
  const std::vector<std::size_t> sizes{0, 1, 100, 300'000, 0, 5'000'000, 262'144, 17};
  std::jthread sending([&] {
    for (std::size_t n = 0; n < sizes.size(); ++n) ours_->send(Bytes(sizes[n], static_cast<std::byte>(n)));
  });
  for (std::size_t n = 0; n < sizes.size(); ++n)
    EXPECT_TRUE(theirs_->receive(4min) == Bytes(sizes[n], static_cast<std::byte>(n))) << n;
  theirs_->send(bytes_of("and back"));
  EXPECT_EQ(text_in_bytes(ours_->receive(4min)), "and back");
  EXPECT_EQ(ours_->receive(1ms), std::nullopt);
}

TEST_F(ChannelTest, SenderWaitsForReceiver) {
  std::atomic<int> sent{0};
  std::jthread sending([&] {
    for (; sent < 30; ++sent) ours_->send(Bytes(4'000'000, std::byte{1}));
  });
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(sent, 30) << "120 MB are more than may wait";
  for (int n = 0; n < 30; ++n) ASSERT_TRUE(theirs_->receive(4min).has_value()) << n;
}

TEST_F(ChannelTest, CloseWakesBothSides) {
  std::jthread closing([&] {
    std::this_thread::sleep_for(20ms);
    ours_->close();
  });
  EXPECT_EQ(error_of([&] { theirs_->receive(4min); }).kind(), ErrorKind::WorkerLost);
  EXPECT_EQ(error_of([&] { ours_->receive(4min); }).message(), "the channel was closed");
  EXPECT_THROW(ours_->send(bytes_of("late")), Error);
}

TEST_F(ChannelTest, WhatCameBeforeTheEndIsReceived) {
  ours_->send(bytes_of("last words"));
  EXPECT_EQ(text_in_bytes(theirs_->receive(4min)), "last words");
  ours_->send(bytes_of("more"));
  while (!theirs_->receive(0ms)) std::this_thread::sleep_for(1ms);
  other_.reset();
  EXPECT_EQ(error_of([&] { theirs_->receive(4min); }).kind(), ErrorKind::WorkerLost);
  EXPECT_THROW(ours_->receive(4min), Error) << "the channel ends with its node";
}

// ---- Statements ----------------------------------------------------------------------------------------------------

void expect_barrier(std::vector<std::unique_ptr<Exchange>>& exchanges) {
  Exchange::Group group(exchanges.size());
  for (Rank n = 0; n < static_cast<Rank>(group.size()); ++n) group[n] = n;
  run_ranks(exchanges, [&](Exchange& exchange) { exchange.barrier(group); });
}

/// Waits until a node has that many idle connections.
bool gets_idle(TcpNode& node, std::size_t count) {
  for (int n = 0; n < 24000 && node.idle_connections() != count; ++n) std::this_thread::sleep_for(10ms);
  return node.idle_connections() == count;
}

TEST(Statements, ConnectionsAreKeptForTheNext) {
  LocalNodes nodes(3, local_options(kSecretText));
  for (int n = 0; n < 3; ++n) {
    auto exchanges = nodes.open();
    expect_barrier(exchanges);
    exchanges.clear();
    for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_TRUE(gets_idle(nodes.node(rank), 2)) << n;
  }
}

TEST(Statements, ManyAtATimeDoNotMeet) {
  LocalNodes nodes(3, local_options(kSecretText));
  auto first = nodes.open();
  auto second = nodes.open();
  expect_barrier(second);
  expect_barrier(first);
  second.clear();
  expect_barrier(first);
}

TEST(Statements, ConnectionsOfAFailedOneAreNotKept) {
  LocalNodes nodes(2, local_options(kSecretText));
  auto exchanges = nodes.open();
  exchanges[0]->abort(std::make_exception_ptr(Error(ErrorKind::Cancelled, "enough")));
  EXPECT_EQ(error_of([&] { exchanges[1]->barrier({0, 1}); }).kind(), ErrorKind::Cancelled);
  exchanges.clear();
  EXPECT_TRUE(gets_idle(nodes.node(0), 0));
  EXPECT_TRUE(gets_idle(nodes.node(1), 0));
  exchanges = nodes.open();
  expect_barrier(exchanges);
}

TEST(Statements, RankThatLeavesIsNamed) {
  LocalNodes nodes(2, local_options(kSecretText));
  auto exchanges = nodes.open();
  exchanges[0].reset();
  const auto error = error_of([&] { exchanges[1]->barrier({0, 1}); });
  EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
  EXPECT_NE(error.message().find("worker " + nodes.addresses()[0] + " is lost"), std::string::npos) << error.message();
}

TEST(Statements, RankThatDoesNotComeIsNamedAndTheOthersAreTold) {
  auto options = local_options(kSecretText);
  options.connect_time = 300ms;
  LocalNodes nodes(3, options);
  std::vector<Error> errors(2, Error(ErrorKind::Internal, ""));
  {
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < 2; ++rank)
      threads.emplace_back([&, rank] {
        errors[rank] = error_of(
            [&] { nodes.node(rank).open_exchange({.statement = 9, .rank = rank, .addresses = nodes.addresses()}); });
      });
  }
  for (const auto& error : errors) {
    EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
    EXPECT_EQ(error.message(), "the coordinator has not come to the statement in time");
  }
}

/// Like a suspended worker: its sockets are open but not read.
TEST(Statements, AbortGetsThroughWhereNobodyReads) {
  class Endless : public OutgoingStreams, public IncomingStreams {
   public:
    std::optional<OutgoingMessage> next(Rank /*peer*/) override { return OutgoingMessage{{}, payload_}; }
    std::span<std::byte> begin(Rank /*peer*/, std::span<const std::byte> /*header*/, std::size_t size) override {
      return std::span(payload_).first(size);
    }
    void end(Rank /*peer*/) override {}

   private:
    Bytes payload_ = Bytes(4'000'000);
  };
  LocalNodes nodes(2, local_options(kSecretText));
  auto exchanges = nodes.open();
  std::jthread aborting([&] {
    std::this_thread::sleep_for(100ms);
    exchanges[0]->abort(std::make_exception_ptr(Error(ErrorKind::WorkerLost, "worker 1 is silent")));
  });
  Endless endless;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([&] { exchanges[0]->all_to_all(endless, endless); }).message(), "worker 1 is silent");
  if (kVirtualTime) {
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  }
}

/// A node, and a peer controlled by the test as rank 1 of a statement.
TEST(Statements, AlteredTileEndsTheStatementAndIsLogged) {
  LoggedLines log;
  TcpNode node(local_options(kSecretText, &log));
  RawPeer raw(node.port());
  raw.authenticate(kClusterSecret, ConnectionPurpose::Data);
  raw.send(raw.frame({.kind = FrameKind::Bind, .stream = 5}, std::string("\1\0\0\0", 4)));
  EXPECT_EQ(raw.receive_frame().kind, FrameKind::Bound);
  const auto exchange = node.open_exchange({.statement = 5, .rank = 0, .addresses = {address_of(node), ""}});
  auto frame = raw.frame({.kind = FrameKind::Block, .stream = 5, .total = 5}, {}, "hello");
  frame.back() = '!';
  raw.send(frame);
  Bytes in(5);
  const auto error = error_of([&] { exchange->permute(1, 1, Bytes(5), in); });
  EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
  EXPECT_EQ(error.message(), "the coordinator is lost: a frame has a wrong checksum");
  EXPECT_TRUE(log.has("closed: a frame has a wrong checksum"));
}

// Frames of another operation or statement are an error and never data.
TEST(Statements, FramesOfAnotherOperationOrStatementEndIt) {
  for (const auto& header : {FrameHeader{.kind = FrameKind::Piece, .stream = 5, .total = 5},
                             FrameHeader{.kind = FrameKind::Block, .stream = 6, .total = 5},
                             FrameHeader{.kind = FrameKind::Block, .stream = 5, .total = 50},
                             FrameHeader{.kind = FrameKind::Bind, .stream = 5, .total = 5}}) {
    TcpNode node(local_options(kSecretText));
    RawPeer raw(node.port());
    raw.authenticate(kClusterSecret, ConnectionPurpose::Data);
    raw.send(raw.frame({.kind = FrameKind::Bind, .stream = 5}, std::string("\1\0\0\0", 4)));
    const auto exchange = node.open_exchange({.statement = 5, .rank = 0, .addresses = {address_of(node), ""}});
    raw.send(raw.frame(header, {}, "hello"));
    Bytes in(5);
    EXPECT_THROW(exchange->permute(1, 1, Bytes(5), in), Error);
    EXPECT_EQ(in, Bytes(5));
  }
}

// ---- Connections through which nothing comes -----------------------------------------------------------------------

/// The peer that the exchange considers lost.
std::optional<UnreachablePeer> peer_lost_by(const std::function<void()>& f) {
  try {
    f();
  } catch (...) {
    return lost_peer(std::current_exception());
  }
  return std::nullopt;
}

/// As behind a proxy that accepts everything and forwards nothing.
TEST(Statements, SilentRankIsFoundThoughItsConnectionIsOpen) {
  auto options = local_options(kSecretText);
  options.data_silence = 1500ms;
  TcpNode node(options);
  RawPeer raw(node.port());
  raw.authenticate(kClusterSecret, ConnectionPurpose::Data);
  raw.send(raw.frame({.kind = FrameKind::Bind, .stream = 5}, std::string("\1\0\0\0", 4)));
  const auto exchange = node.open_exchange({.statement = 5, .rank = 0, .addresses = {address_of(node), ""}});
  Bytes in(5);
  EXPECT_EQ(peer_lost_by([&] { exchange->permute(1, 1, Bytes(5), in); }), (UnreachablePeer{1, true}));
}

/// Bytes arrive one at a time for longer than the limit of silence.
TEST(Statements, SlowRankIsNotTakenForSilent) {
  auto options = local_options(kSecretText);
  options.data_silence = 2000ms;
  TcpNode node(options);
  RawPeer raw(node.port());
  raw.authenticate(kClusterSecret, ConnectionPurpose::Data);
  raw.send(raw.frame({.kind = FrameKind::Bind, .stream = 5}, std::string("\1\0\0\0", 4)));
  const auto exchange = node.open_exchange({.statement = 5, .rank = 0, .addresses = {address_of(node), ""}});
  const auto frame = raw.frame({.kind = FrameKind::Block, .stream = 5, .total = 5}, {}, "hello");
  std::jthread slow([&] {
    for (const char byte : frame) {
      raw.send({&byte, 1});
      std::this_thread::sleep_for(60ms);  // 69 bytes
    }
  });
  Bytes in(5);
  EXPECT_NO_THROW(exchange->permute(1, 1, Bytes(5), in));
  EXPECT_EQ(in[0], std::byte{'h'});
}

TEST(Statements, RankThatComputesIsNotSilent) {
  auto options = local_options(kSecretText);
  options.data_silence = 3000ms;
  LocalNodes nodes(2, options);
  auto exchanges = nodes.open();
  run_ranks(exchanges, [&](Exchange& exchange) {
    if (exchange.rank() == 1) std::this_thread::sleep_for(5s);
    exchange.barrier({0, 1});
  });
}

TEST(Statements, RankThatCannotBeReachedIsNamedByItsNumber) {
  LocalNodes nodes(3, local_options(kSecretText));
  auto addresses = nodes.addresses();
  addresses[0] = "127.0.0.1:1";  // nobody listens there
  EXPECT_EQ(peer_lost_by([&] { nodes.node(1).open_exchange({.statement = 9, .rank = 1, .addresses = addresses}); }),
            UnreachablePeer{0});
}

/// Listens but never answers: the system accepts its connections.
class SilentListener {
 public:
  SilentListener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&place), size), 0);
    EXPECT_EQ(::listen(socket_.get(), 5), 0);
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&place), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(place.sin_port));
  }
  const std::string& address() const { return address_; }

 private:
  FileDescriptor socket_;
  std::string address_;
};

TEST(TcpNode, ProbeTellsWhomDataReaches) {
  auto options = local_options(kSecretText);
  options.handshake_time = 500ms;
  TcpNode node(options);
  TcpNode well(local_options(kSecretText));
  const SilentListener silent;
  const auto errors = node.probe({address_of(well), "127.0.0.1:1", silent.address(), address_of(node)});
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_FALSE(errors[0]) << errors[0]->message();
  ASSERT_TRUE(errors[1]);
  EXPECT_NE(errors[1]->message().find("cannot connect to '127.0.0.1:1'"), std::string::npos) << errors[1]->message();
  ASSERT_TRUE(errors[2]);
  EXPECT_NE(errors[2]->message().find("said nothing for too long"), std::string::npos) << errors[2]->message();
  EXPECT_FALSE(errors[3]);
}

}  // namespace
}  // namespace eindb
