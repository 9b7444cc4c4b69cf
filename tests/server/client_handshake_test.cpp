// The beginning of a connection: messages of strangers, and the answers to them.

#include "server/login/client_handshake.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "security/base64.hpp"
#include "server/login/counted_address.hpp"
#include "server/login/half_open_counts.hpp"
#include "server/login/startup_options.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

using namespace std::literals;
using Next = ClientHandshake::Next;

constexpr std::int32_t kSsl = 80877103;
constexpr std::int32_t kGss = 80877104;
constexpr std::int32_t kCancel = 80877102;

std::string integers(std::initializer_list<std::int32_t> values) {
  std::string bytes;
  for (const auto value : values) append_big_endian(bytes, value);
  return bytes;
}

// Names and values, each with its zero byte, after the version.
std::string startup(std::string_view parameters, std::int32_t version = 3 << 16) {
  return integers({version}) + std::string(parameters) + '\0';
}

// A folder for one test; the destructor removes it.
struct Folder {
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string path = ::testing::TempDir() + "eindb_handshake_" + std::to_string(::getpid());
};

class HandshakeTest : public ::testing::Test {
 protected:
  Next first(ClientHandshake& handshake, const std::string& body, std::size_t pending = 0) {
    return handshake.receive({'\0', body}, pending, out_);
  }
  Next password(ClientHandshake& handshake, const std::string& body) { return handshake.receive({'p', body}, 0, out_); }
  // The output since the last call.
  std::string sent() { return std::exchange(out_.buffer(), {}); }
  void add_user() { Session(path_).execute("CREATE USER ada PASSWORD 'secret' READ ONLY"); }
  // A login with a wrong password.
  Next try_password(ClientHandshake& handshake) {
    first(handshake, startup("user\0ada\0"sv));
    handshake.log_in(out_);
    sent();
    password(handshake, "SCRAM-SHA-256\0"s + integers({13}) + "n,,n=,r=nonce");
    const auto challenge = sent().substr(9);
    const auto nonce = challenge.substr(0, challenge.find(','));
    return password(handshake, "c=biws," + nonce + ",p=" + base64_encode(std::string(32, 'x')));
  }

  const Folder folder_;
  const std::string path_ = folder_.path + "/test.db";
  ClientSessions sessions_{.read_write = {path_, {}, 1},
                           .read_only = {path_, {.read_only = true}, 1},
                           .transfers = TransferDirectory(path_)};
  MessageWriter out_;
};

TEST_F(HandshakeTest, PlainPasswordsAreChecked) {
  add_user();
  const auto log_in = [&](PlainLogin login) {
    ClientHandshake handshake(sessions_, "::1");
    const auto next = handshake.log_in_by(login, out_);
    if (next == Next::Admit) {
      EXPECT_EQ(handshake.admitted().user, "ada");
      EXPECT_EQ(handshake.admitted().role, UserRole::ReadOnly);
      EXPECT_EQ(sent(), "");
    } else {
      EXPECT_NE(sent().find("FATAL"), std::string::npos);
    }
    return next;
  };
  EXPECT_EQ(log_in({.user = "ada", .password = "secret"}), Next::Admit);
  for (const auto* wrong : {"", "Secret", "secret ", "\xff"})
    EXPECT_EQ(log_in({.user = "ada", .password = wrong, .is_local = true}), Next::Refuse) << wrong;
  EXPECT_EQ(log_in({.user = "nobody", .password = "secret", .is_local = true}), Next::Refuse);
  sessions_.rules.requires_tls = true;
  EXPECT_EQ(log_in({.user = "ada", .password = "secret", .is_local = true}), Next::Close);
  EXPECT_EQ(log_in({.user = "ada", .password = "secret", .encrypted = true}), Next::Admit);
}

TEST_F(HandshakeTest, WithoutUsersNobodyElsewhereIsTrusted) {
  sessions_.rules.trusts = true;
  ClientHandshake here(sessions_, "::1");
  EXPECT_EQ(here.log_in_by({.user = "ada", .password = "", .is_local = true}, out_), Next::Admit);
  ClientHandshake elsewhere(sessions_, "192.0.2.1");
  EXPECT_THROW(elsewhere.log_in_by({.user = "ada", .password = "", .encrypted = true}, out_), ProtocolError);
}

TEST_F(HandshakeTest, WithoutUsersWhoIsOnThisMachineIsLetIn) {
  sessions_.rules.trusts = true;
  ClientHandshake handshake(sessions_, "::1");
  EXPECT_EQ(first(handshake, startup("user\0ada\0DateStyle\0ISO\0jit\0off\0"sv)), Next::LogIn);
  EXPECT_EQ(handshake.log_in(out_), Next::Admit);
  EXPECT_EQ(handshake.admitted().user, "ada");
  EXPECT_EQ(handshake.admitted().database, "ada");
  EXPECT_EQ(handshake.admitted().role, UserRole::Admin);
  EXPECT_EQ(sent(), "");
}

TEST_F(HandshakeTest, WithoutUsersOthersAreNot) {
  ClientHandshake handshake(sessions_, "10.0.0.1");
  EXPECT_EQ(first(handshake, startup("user\0ada\0"sv)), Next::LogIn);
  EXPECT_THROW(handshake.log_in(out_), ProtocolError);
}

TEST_F(HandshakeTest, EncryptionIsAskedForOnceOfEachKind) {
  ClientHandshake handshake(sessions_, "");
  EXPECT_EQ(first(handshake, integers({kGss})), Next::Input);
  EXPECT_EQ(first(handshake, integers({kSsl})), Next::Input);
  EXPECT_EQ(sent(), "NN");
  EXPECT_THROW(first(handshake, integers({kSsl})), ProtocolError);
}

TEST_F(HandshakeTest, NothingStandsBehindARequestForEncryption) {
  sessions_.rules.offers_tls = true;
  ClientHandshake handshake(sessions_, "");
  EXPECT_THROW(first(handshake, integers({kSsl}), 1), ProtocolError);
  EXPECT_EQ(sent(), "");
}

TEST_F(HandshakeTest, TlsBeginsOnce) {
  sessions_.rules.offers_tls = true;
  ClientHandshake handshake(sessions_, "");
  EXPECT_EQ(first(handshake, integers({kSsl})), Next::Encrypt);
  EXPECT_EQ(sent(), "S");
  EXPECT_THROW(first(handshake, integers({kGss})), ProtocolError);
}

TEST_F(HandshakeTest, WhereTlsIsRequiredItComesFirst) {
  sessions_.rules.offers_tls = sessions_.rules.requires_tls = sessions_.rules.trusts = true;
  ClientHandshake clear(sessions_, "");
  EXPECT_EQ(first(clear, startup("user\0ada\0"sv)), Next::Close);
  EXPECT_NE(sent().find("C28000"), std::string::npos);
  ClientHandshake encrypted(sessions_, "");
  EXPECT_EQ(first(encrypted, integers({kSsl})), Next::Encrypt);
  EXPECT_EQ(first(encrypted, startup("user\0ada\0"sv)), Next::LogIn);
}

TEST_F(HandshakeTest, PasswordsAreBoundToTheCertificateWithTlsAlone) {
  add_user();
  sessions_.rules.offers_tls = true;
  sessions_.rules.certificate_hash = std::string(32, 'h');
  for (const bool tls : {false, true}) {
    ClientHandshake handshake(sessions_, "");
    if (tls) first(handshake, integers({kSsl}));
    first(handshake, startup("user\0ada\0"sv));
    sent();
    EXPECT_EQ(handshake.log_in(out_), Next::Input);
    EXPECT_EQ(sent().find("SCRAM-SHA-256-PLUS") != std::string::npos, tls);
  }
}

TEST_F(HandshakeTest, RequestsToCancelNeedNoSession) {
  ClientHandshake handshake(sessions_, "");
  EXPECT_EQ(first(handshake, integers({kCancel, 7, -3})), Next::Close);
  EXPECT_EQ(handshake.cancel_requested(), (CancelKey{7, -3}));
  EXPECT_EQ(sent(), "");
}

TEST_F(HandshakeTest, NewerVersionsAreNegotiated) {
  sessions_.rules.trusts = true;
  ClientHandshake handshake(sessions_, "");
  EXPECT_EQ(first(handshake, startup("user\0ada\0_pq_.x\0y\0"sv, (3 << 16) + 9)), Next::LogIn);
  EXPECT_EQ(sent(), "v\0\0\0\x13\0\0\0\0\0\0\0\x01_pq_.x\0"s);
}

TEST_F(HandshakeTest, WhatIsNoBeginning) {
  for (const auto& body : {""s, "abc"s, integers({2 << 16}), startup("database\0d\0"sv), startup("user"sv),
                           integers({kSsl}) + "x", integers({kCancel, 1}), startup("user\0ada\0"sv) + "x"}) {
    ClientHandshake handshake(sessions_, "");
    EXPECT_THROW(first(handshake, body), ProtocolError) << body;
  }
}

TEST_F(HandshakeTest, AWrongPasswordIsRefused) {
  add_user();
  ClientHandshake handshake(sessions_, "10.0.0.1");
  EXPECT_EQ(try_password(handshake), Next::Refuse);
  EXPECT_NE(sent().find("C28P01"), std::string::npos);
}

TEST_F(HandshakeTest, OneAddressTriesAFewPasswordsAtATime) {
  add_user();
  const auto message_at = [&](const char* address) {
    auto handshake = std::make_unique<ClientHandshake>(sessions_, address);
    EXPECT_EQ(try_password(*handshake), Next::Refuse);
    return std::pair(std::move(handshake), sent());
  };
  std::vector<std::unique_ptr<ClientHandshake>> refused;
  for (std::size_t n = 0; n < LoginThrottle::kMostOfUser; ++n) refused.push_back(message_at("10.0.0.1").first);
  ClientHandshake ninth(sessions_, "10.0.0.1");
  first(ninth, startup("user\0ada\0"sv));
  ninth.log_in(out_);
  sent();
  EXPECT_EQ(password(ninth, "SCRAM-SHA-256\0"s + integers({13}) + "n,,n=,r=nonce"), Next::Refuse);
  EXPECT_NE(sent().find("C28000"), std::string::npos);
  EXPECT_NE(message_at("10.0.0.2").second.find("C28P01"), std::string::npos);
  refused.clear();
  EXPECT_NE(message_at("10.0.0.1").second.find("C28P01"), std::string::npos);
}

TEST_F(HandshakeTest, SettingsOfTheStart) {
  ClientHandshake handshake(sessions_, "");
  first(handshake,
        startup("user\0ada\0threads\0002\0nonsense\0x\0options\0-c idle_session_timeout=5s --tile-bytes=1\0"sv));
  using Settings = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(handshake.admitted().settings, (Settings{{"threads", "2"}, {"tile_bytes", "1"}}));
  EXPECT_EQ(handshake.admitted().parameters.idle().session, 5s);
  ClientHandshake other(sessions_, "");
  EXPECT_THROW(first(other, startup("user\0ada\0client_encoding\0LATIN1\0"sv)), Error);
}

TEST(StartupOptions, AreThoseOfACommandLine) {
  using Options = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_startup_options("  "), Options{});
  EXPECT_EQ(parse_startup_options(R"(-c a=1 -cb=x\ y --c-d=\\ -c e=)"),
            (Options{{"a", "1"}, {"b", "x y"}, {"c_d", "\\"}, {"e", ""}}));
  for (const auto* options : {"-c", "a=1", "-c a", "-c =1", "-x", "--", "-c a;b=1", "-c a\x01=1"})
    EXPECT_THROW(parse_startup_options(options), Error) << options;
}

TEST(LoginThrottle, CountsUsersAndAddresses) {
  LoginThrottle throttle;
  std::vector<std::unique_ptr<LoginThrottle::Refusal>> refusals;
  const auto refuse = [&](const std::string& user) {
    refusals.push_back(std::make_unique<LoginThrottle::Refusal>(throttle, "a", user));
  };
  for (std::size_t n = 0; n < LoginThrottle::kMostOfUser; ++n) refuse("x");
  EXPECT_FALSE(throttle.allows("a", "x"));
  EXPECT_TRUE(throttle.allows("a", "y"));
  EXPECT_TRUE(throttle.allows("b", "x"));
  while (refusals.size() < LoginThrottle::kMostOfAddress) refuse(std::to_string(refusals.size()));
  EXPECT_FALSE(throttle.allows("a", "y"));
  EXPECT_TRUE(throttle.allows("b", "x"));
  refusals.clear();
  EXPECT_TRUE(throttle.allows("a", "x"));
}

TEST(CountedAddress, IsThatOfACustomer) {
  const auto counted = [](const char* text) { return counted_address(boost::asio::ip::make_address(text)); };
  EXPECT_EQ(counted("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(counted("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(counted("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_NE(counted("2001:db8:1:3:3:4:5:6"), counted("2001:db8:1:2:3:4:5:6"));
}

TEST(HalfOpenCounts, AnAddressHasHalfOfThePlaces) {
  HalfOpenCounts counts(4);
  counts.add("a");
  EXPECT_FALSE(counts.is_full_for("a"));
  counts.add("a");
  EXPECT_TRUE(counts.is_full_for("a"));
  EXPECT_FALSE(counts.is_full_for("b"));
  counts.add("b");
  counts.add("c");
  EXPECT_TRUE(counts.is_full());
  counts.remove("a");
  EXPECT_FALSE(counts.is_full());
  EXPECT_FALSE(counts.is_full_for("a"));
}

TEST(SessionSeats, AreGivenBack) {
  SessionSeats seats(2);
  auto first = seats.take();
  auto second = seats.take();
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(seats.take());
  auto moved = std::exchange(second, std::nullopt);
  EXPECT_FALSE(seats.take());
  moved.reset();
  EXPECT_TRUE(seats.take());
}

}  // namespace
}  // namespace eindb
