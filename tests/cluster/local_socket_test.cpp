// Data connections between nodes of one host.
#include "cluster/local_socket.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>
#include <string>

#include "cluster/address.hpp"
#include "tests/cluster/local_nodes.hpp"
#include "tests/executor/exchange_checks.hpp"
#include "tests/executor/rank_threads.hpp"

namespace eindb {
namespace {

FileDescriptor socket_to(const TcpNode& node) { return connect_on_host(resolve_address(address_of(node)).front()); }

TEST(LocalSocket, IsThereWhereANodeListensAndWantsIt) {
  auto options = local_options("a secret of the cluster");
  std::optional<TcpNode> node(options);
  EXPECT_TRUE(socket_to(*node));
  const auto address = address_of(*node);
  node.reset();
  EXPECT_FALSE(connect_on_host(resolve_address(address).front()));
  options.local_sockets = false;
  node.emplace(options);
  EXPECT_FALSE(socket_to(*node));
}

// Two nodes have names of their own, as they have ports.
TEST(LocalSocket, LeadsToTheNodeOfItsAddress) {
  const auto first = listen_on_host(resolve_address("127.0.0.1:1").front());
  const auto second = listen_on_host(resolve_address("127.0.0.2:1").front());
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(listen_on_host(resolve_address("127.0.0.1:1").front()));  // it is taken
  EXPECT_FALSE(listen_on_host(resolve_address("0.0.0.0:1").front()));    // it is no address that nodes are reached by
  const auto connected = connect_on_host(resolve_address("127.0.0.2:1").front());
  ASSERT_TRUE(connected);
  EXPECT_TRUE(is_of_same_user(connected.get()));
  EXPECT_LT(::accept(first.get(), nullptr, nullptr), 0);
  EXPECT_TRUE(FileDescriptor(::accept(second.get(), nullptr, nullptr)));
}

// Whatever comes before the handshake ends the connection, as over TCP.
TEST(LocalSocket, RefusesWhoDoesNotKnowTheSecret) {
  LoggedLines log;
  TcpNode node(local_options("a secret of the cluster", &log));
  const auto socket = socket_to(node);
  ASSERT_TRUE(socket);
  const std::string bytes(1000, 'x');
  EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), 1000);
  EXPECT_TRUE(log.has("connection from this host refused"));
}

// Where one node alone wants them, the other is reached over TCP.
TEST(LocalSocket, IsAMatterOfBothEnds) {
  for (const bool first_wants : {true, false}) {
    auto options = local_options("a secret of the cluster");
    options.local_sockets = first_wants;
    TcpNode listening(options);
    options.local_sockets = !first_wants;
    options.listen.reset();
    TcpNode connecting(options);
    EXPECT_FALSE(connecting.probe({address_of(listening)}).front().has_value());
  }
}

struct LocalSocketExchange : ::testing::TestWithParam<bool> {};

TEST_P(LocalSocketExchange, DoesWhatExchangesDo) {
  auto options = local_options("a secret of the cluster");
  options.local_sockets = GetParam();
  for (const auto& check : exchange_checks()) {
    SCOPED_TRACE(check.name);
    LocalNodes nodes(3, options);
    auto exchanges = nodes.open();
    run_ranks(exchanges, check.run);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LocalSocketExchange, ::testing::Bool());

}  // namespace
}  // namespace eindb
