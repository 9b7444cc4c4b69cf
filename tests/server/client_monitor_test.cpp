// Tests the reports about clients: in the log, in the metrics, and for listing or stopping sessions.
#include "server/monitoring/client_monitor.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "common/error.hpp"
#include "server/monitoring/session_list.hpp"

namespace eindb {
namespace {

using What = ClientRegistry::What;
using StopOutcome = ClientRegistry::StopOutcome;

LogOptions everything() {
  return {.file = {}, .format = LogFormat::Json, .level = LogLevel::Debug, .statements = StatementLog::All};
}

void begin(ClientMonitor& client, std::string_view text, std::int64_t rows = 0) {
  client.begin_statement(text, outline_of(text).kind, rows);
}

class ClientMonitorTest : public ::testing::Test {
 protected:
  explicit ClientMonitorTest(LogOptions options = everything()) : server_(std::move(options), stream_) {
    server_.clients.use([this](const ClientRegistry::StopRequest& request) { stopped_.push_back(request); });
  }

  /// The events logged since the last call.
  std::vector<nlohmann::json> events() {
    std::vector<nlohmann::json> events;
    std::istringstream lines(stream_.str());
    for (std::string line; std::getline(lines, line);) events.push_back(nlohmann::json::parse(line));
    stream_.str("");
    return events;
  }
  std::int64_t statements(StatementKind kind, StatementOutcome outcome) const {
    return server_.metrics.statements[static_cast<std::size_t>(kind)][static_cast<std::size_t>(outcome)].value();
  }

  std::ostringstream stream_;
  ServerMonitor server_;
  std::vector<ClientRegistry::StopRequest> stopped_;
};

TEST_F(ClientMonitorTest, TellsOfAConnectionFromItsBeginningToItsEnd) {
  {
    ClientMonitor client(server_, 7, "127.0.0.1:4000");
    client.introduce("ada");
    client.log_in({.user = "ada", .database = "d", .application_name = "psql", .role = UserRole::ReadWrite});
    client.received(10);
    client.sent(20);
  }
  const auto told = events();
  ASSERT_EQ(told.size(), 3);
  EXPECT_EQ(told[0]["event"], "connection opened");
  EXPECT_EQ(told[0]["level"], "debug");
  EXPECT_EQ(told[1]["event"], "login");
  EXPECT_EQ(told[1]["application_name"], "psql");
  EXPECT_EQ(told[2]["event"], "connection closed");
  EXPECT_EQ(told[2]["session"], 7);
  EXPECT_EQ(told[2]["sent"], 20);
  EXPECT_EQ(server_.metrics.bytes_received.value(), 10);
  EXPECT_TRUE(server_.clients.list().empty());
}

TEST_F(ClientMonitorTest, CountsAndLogsStatements) {
  ClientMonitor client(server_, 1, "a:1");
  events();
  begin(client, "SELECT 1");
  client.end_statement(5);
  client.rest(ClientActivity::Idle);
  begin(client, "INSERT INTO t VALUES (1)");
  client.fail("23505", "there is one already");
  const auto told = events();
  ASSERT_EQ(told.size(), 2);
  EXPECT_EQ(told[0]["statement"], "SELECT 1");
  EXPECT_EQ(told[0]["rows"], 5);
  EXPECT_EQ(told[1]["sqlstate"], "23505");
  EXPECT_EQ(statements(StatementKind::Select, StatementOutcome::Ok), 1);
  EXPECT_EQ(statements(StatementKind::Insert, StatementOutcome::Error), 1);
}

TEST_F(ClientMonitorTest, RowsInPiecesAreOneStatementUntilTheyArePaused) {
  ClientMonitor client(server_, 1, "a:1");
  begin(client, "SELECT n FROM t");  // Describe
  begin(client, "SELECT n FROM t");  // Execute
  client.end_statement(10);
  begin(client, "SELECT n FROM t", 10);
  client.end_statement(14);
  const auto told = events();
  EXPECT_EQ(statements(StatementKind::Select, StatementOutcome::Ok), 2);
  EXPECT_EQ(told.back()["rows"], 4);
}

TEST_F(ClientMonitorTest, WhatIsLeftRunningEndsWithTheSync) {
  ClientMonitor client(server_, 1, "a:1");
  begin(client, "SELECT COUNT(*) FROM t");
  client.rest(ClientActivity::InTransaction);
  EXPECT_EQ(statements(StatementKind::Select, StatementOutcome::Ok), 1);
  EXPECT_EQ(server_.clients.list().at(0).activity, ClientActivity::InTransaction);
}

TEST_F(ClientMonitorTest, ErrorsOfNoStatementAreErrorsAlone) {
  ClientMonitor client(server_, 1, "a:1");
  client.fail("34000", "there is no portal");
  EXPECT_EQ(statements(StatementKind::Other, StatementOutcome::Error), 0);
  client.fail("42601", "no statement", "SELCT");
  EXPECT_EQ(statements(StatementKind::Other, StatementOutcome::Error), 1);
  begin(client, "SELECT 1");
  client.fail("57014", "cancelled");
  EXPECT_EQ(statements(StatementKind::Select, StatementOutcome::Cancelled), 1);
  EXPECT_EQ(server_.metrics.errors.entries().size(), 3);
}

TEST_F(ClientMonitorTest, PasswordsAreNeverTold) {
  ClientMonitor client(server_, 1, "a:1");
  client.log_in({.user = "ada", .role = UserRole::ReadWrite});
  begin(client, "CREATE USER bob PASSWORD 'secret'");
  EXPECT_EQ(server_.clients.list_for(1).at(0).statement, kHiddenStatement);
  client.fail("42601", "near secret");
  begin(client, "ALTER USER bob PASSWORD 'secret'");
  client.end_statement(0);
  begin(client, std::string(RegisteredClient::kMostStatementBytes - 12, ' ') + "x PASSWORD 'secret'");
  client.end_statement(0);
  EXPECT_EQ(stream_.str().find("secret"), std::string::npos) << stream_.str();
}

TEST_F(ClientMonitorTest, WrongPasswordsAreLoggedAndCounted) {
  ClientMonitor client(server_, 1, "10.0.0.9:5");
  client.introduce("eve\n");
  client.refuse_login("wrong password");
  const auto refused = events().back();
  EXPECT_EQ(refused["event"], "login refused");
  EXPECT_EQ(refused["level"], "warning");
  EXPECT_EQ(refused["user"], "eve\n");
  EXPECT_EQ(refused["address"], "10.0.0.9:5");
  client.abort("28000", "no users");
  EXPECT_EQ(server_.metrics.logins_refused.value(), 2);
}

TEST_F(ClientMonitorTest, SessionsAreListedForWhoMaySeeThem) {
  ClientMonitor ada(server_, 1, "127.0.0.1:1");
  ClientMonitor bob(server_, 2, "127.0.0.1:2");
  ada.log_in({.user = "ada", .database = "d", .role = UserRole::ReadWrite});
  bob.log_in({.user = "bob", .database = "d", .role = UserRole::ReadOnly});
  begin(ada, "SELECT 'ada'");
  begin(bob, "SELECT 'bob'");
  EXPECT_EQ(server_.clients.list_for(1).at(1).statement, "SELECT 'bob'");
  EXPECT_EQ(server_.clients.list_for(2).at(0).statement, "");
  EXPECT_EQ(server_.clients.list_for(2).at(1).statement, "SELECT 'bob'");

  const auto listed = list_sessions(server_.clients, 1);
  EXPECT_EQ(listed.columns.size(), session_columns().size());
  const auto json = nlohmann::json::parse(sessions_as_json(server_.clients, 1));
  EXPECT_EQ(json.at(1)["client_addr"], "127.0.0.1");
  EXPECT_EQ(json.at(1)["client_port"], 2);
  EXPECT_EQ(json.at(1)["state"], "active");
}

TEST_F(ClientMonitorTest, SessionsAreStoppedByTheirUserAndWhoMayWrite) {
  ClientMonitor ada(server_, 1, "a:1");
  ClientMonitor bob(server_, 2, "a:2");
  ClientMonitor bob_again(server_, 3, "a:3");
  ada.log_in({.user = "ada", .role = UserRole::ReadWrite});
  bob.log_in({.user = "bob"});
  bob_again.log_in({.user = "bob"});
  const auto& clients = server_.clients;
  EXPECT_EQ(clients.stop(1, 2, What::Statement), StopOutcome::Asked);
  EXPECT_EQ(clients.stop(2, 3, What::Connection), StopOutcome::Asked);
  EXPECT_EQ(clients.stop(2, 1, What::Statement), StopOutcome::Forbidden);
  EXPECT_EQ(clients.stop(1, 9, What::Statement), StopOutcome::Unknown);
  const std::vector<ClientRegistry::StopRequest> expected{{1, 2, What::Statement}, {2, 3, What::Connection}};
  EXPECT_EQ(stopped_, expected);
}

class QuietMonitorTest : public ClientMonitorTest {
 protected:
  QuietMonitorTest()
      : ClientMonitorTest({.file = {},
                           .format = LogFormat::Json,
                           .level = LogLevel::Info,
                           .statements = StatementLog::Slow,
                           .slow_statement = std::chrono::hours(1)}) {}
};

TEST_F(QuietMonitorTest, LogsWhatIsSlowOrTheServersOwnFault) {
  {
    ClientMonitor client(server_, 1, "a:1");  // leaves without a login
    begin(client, "SELECT 1");
    client.end_statement(1);
    client.fail("42601", "no statement", "SELCT");
  }
  EXPECT_TRUE(events().empty());
  EXPECT_TRUE(server_.log.writes_statement(3600));
  ClientMonitor client(server_, 2, "a:1");
  client.fail("XX000", "a bug", "SELECT 2");
  const auto told = events();
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0]["level"], "error");
  EXPECT_EQ(told[0]["statement"], "SELECT 2");
}

TEST(ServerLog, FilesThatCannotBeWrittenAreErrors) { EXPECT_THROW(ServerLog({.file = "/dev/null/server.log"}), Error); }

}  // namespace
}  // namespace eindb
