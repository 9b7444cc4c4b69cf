// The exchange of RFC 7677, and clients that violate it.

#include "server/login/scram_exchange.hpp"

#include <gtest/gtest.h>

#include "security/base64.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

using namespace std::literals;

// RFC 7677, section 3.
constexpr const char* kScramClientFirst = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
constexpr const char* kServerNonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
constexpr const char* kServerFirst =
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
constexpr const char* kScramClientFinal =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
constexpr const char* kServerFinal = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

ScramVerifier pencil() { return make_verifier("pencil", base64_decode("W22ZaJ0SNY7soEsUEjb6gQ==").value(), 4096); }

/// An exchange after the client's first message.
ScramExchange challenged() {
  ScramExchange exchange(pencil(), kServerNonce);
  exchange.start(kScramClientFirst);
  return exchange;
}

std::string sqlstate_of_start(std::string_view message) {
  try {
    ScramExchange(pencil(), kServerNonce).start(message);
  } catch (const ProtocolError& error) {
    return error.sqlstate();
  }
  return "none";
}

/// The final message of a client that knows the password.
std::string client_final(std::string_view client_first_bare, std::string_view server_first, const std::string& start,
                         std::string_view password) {
  const auto verifier_of = [](std::string_view from) {
    const auto salt_at = from.find(",s=") + 3;
    const auto iterations_at = from.find(",i=") + 3;
    const auto salt = base64_decode(from.substr(salt_at, iterations_at - 3 - salt_at)).value();
    return std::pair(salt, std::stoi(std::string(from.substr(iterations_at))));
  };
  const auto [salt, iterations] = verifier_of(server_first);
  const auto salted = pbkdf2_sha256(password, salt, iterations);
  const auto client_key = hmac_sha256(salted.view(), "Client Key");
  const auto messages = std::string(client_first_bare) + "," + std::string(server_first) + "," + start;
  const auto signature = hmac_sha256(sha256(client_key.view()).view(), messages);
  return start + ",p=" + base64_encode(exclusive_or(client_key, signature).view());
}

TEST(ScramExchange, IsThatOfRfc7677) {
  ScramExchange exchange(pencil(), kServerNonce);
  EXPECT_EQ(exchange.start(kScramClientFirst), kServerFirst);
  EXPECT_EQ(exchange.finish(kScramClientFinal), kServerFinal);
}

TEST(ScramExchange, WrongPasswordsAndUnknownUsersFail) {
  for (const auto& verifier : {make_verifier("pencils", pencil().salt, 4096), decoy_verifier("secret", "user")}) {
    ScramExchange exchange(verifier, kServerNonce);
    exchange.start(kScramClientFirst);
    EXPECT_EQ(exchange.finish(kScramClientFinal), std::nullopt);
  }
}

TEST(ScramExchange, NoncesAreNotRepeated) {
  const auto a = ScramExchange(pencil()).start(kScramClientFirst);
  const auto b = ScramExchange(pencil()).start(kScramClientFirst);
  EXPECT_NE(a, b);
  EXPECT_EQ(a.substr(0, 22), "r=rOprNGfwEbeRWgbNEkqO");
  EXPECT_EQ(a.find(",s="), 22U + 24U);
}

TEST(ScramExchange, AClientThatCouldBindTheChannelMayGoOnWithout) {
  ScramExchange exchange(pencil(), "server");
  const auto server_first = exchange.start("y,,n=,r=client");
  const auto final_message = client_final("n=,r=client", server_first, "c=eSws,r=clientserver", "pencil");
  EXPECT_TRUE(exchange.finish(final_message).has_value());
}

TEST(ScramExchange, AClientThatWasDeceivedIsRefused) {
  ScramExchange exchange(pencil(), "server");
  exchange.refuse_unbound();
  EXPECT_THROW(exchange.start("y,,n=,r=client"), ProtocolError);
  ScramExchange unable(pencil(), "server");
  unable.refuse_unbound();
  EXPECT_EQ(unable.start("n,,n=,r=client").substr(0, 14), "r=clientserver");
}

TEST(ScramExchange, ExtensionsAreSkippedAndSigned) {
  ScramExchange exchange(pencil(), "server");
  const auto server_first = exchange.start("n,,n=,r=client,x=1,y=a=b");
  const auto right = client_final("n=,r=client,x=1,y=a=b", server_first, "c=biws,r=clientserver,t=foo", "pencil");
  EXPECT_TRUE(exchange.finish(right).has_value());
}

// Computed with Python's hashlib.
TEST(ScramExchange, ChannelsAreBound) {
  std::string hash;
  for (char c = 0; c < 32; ++c) hash += c;
  const auto bound = [&](const std::string& certificate_hash) {
    ScramExchange exchange(pencil(), "server");
    exchange.bind_channel(certificate_hash);
    exchange.start("p=tls-server-end-point,,n=,r=client");
    return exchange;
  };
  constexpr const char* kFinal =
      "c=cD10bHMtc2VydmVyLWVuZC1wb2ludCwsAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=,r=clientserver,"
      "p=g34AeIox/0Q8GhnvF/LVz/yhm9yBrZrLNLxZL4nXG/8=";
  EXPECT_EQ(bound(hash).finish(kFinal), "v=DH2+cdTHY4FXTEjzOStlGPwcIuz2t6n6eMxHxMy9HYo=");
  EXPECT_THROW(bound(std::string(32, 'x')).finish(kFinal), ProtocolError) << "the certificate of somebody in between";

  ScramExchange unbound(pencil(), "server");
  unbound.bind_channel(hash);
  EXPECT_THROW(unbound.start("n,,n=,r=client"), ProtocolError);
  ScramExchange other(pencil(), "server");
  other.bind_channel(hash);
  EXPECT_THROW(other.start("p=tls-unique,,n=,r=client"), ProtocolError);
}

TEST(ScramExchange, MalformedFirstMessages) {
  for (const auto& message : {
           ""s,
           "n"s,
           ","s,
           "n,"s,
           "n,,"s,
           "x,,n=,r=a"s,
           ",,n=,r=a"s,
           "p=tls-server-end-point,,n=,r=a"s,  // the mechanism was not the one with channel binding
           "n,a=root,n=,r=a"s,
           "n,b,n=,r=a"s,
           "n,,r=a"s,
           "n,,r=a,n="s,
           "n,,n="s,
           "n,,n=,"s,
           "n,,n=,r"s,
           "n,,n=,r="s,
           "n,,n,r=a"s,
           "n,,n=,r=a b"s,
           "n,,n=,r=a\n"s,
           "n,,n=,r=\xc3\xa9"s,
           "n,,n=,n=,r=a"s,
           "n,,n=,r=a,"s,
           "n,,n=,r=a,r=b"s,
           "n,,n=,r=a,n=b"s,
           "n,,n=,r=a,x=1,x=2"s,
           "n,,n=,r=a,x"s,
           "n,,n=,r=a,1=x"s,
           "n,,m=1,n=,r=a"s,
           "n,,n=,m=1,r=a"s,
           "n,,n=,r=a,m=1"s,
           "n,,n=,r=a\0"s,
           "n,,n=,r=" + std::string(ScramExchange::kLongestMessage, 'a'),
       })
    EXPECT_EQ(sqlstate_of_start(message), "08P01") << message;
  EXPECT_EQ(sqlstate_of_start("n,,n=,r=" + std::string(ScramExchange::kLongestMessage - 8, 'a')), "none");
}

TEST(ScramExchange, MalformedFinalMessages) {
  const std::string good = kScramClientFinal;
  const auto proof = good.substr(good.find(",p="));
  const auto nonce = good.substr(7, good.size() - proof.size() - 7);
  ASSERT_EQ("c=biws," + nonce + proof, good);
  for (const auto& message : {
           ""s,
           ","s,
           "c=biws"s,
           "c=biws," + nonce,
           "c=biws," + nonce + ",p=",
           "c=biws," + nonce + ",p=dHzb",
           "c=biws," + nonce + ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ",
           "c=biws," + nonce + ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVR=",
           "c=biws," + nonce + ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7And!Q=",
           good + ",",
           good + ",x=1",
           good + proof,
           "c=," + nonce + proof,
           "c=eSws," + nonce + proof,
           "c=biws=," + nonce + proof,
           nonce + proof,
           nonce + ",c=biws" + proof,
           "c=biws,c=biws," + nonce + proof,
           "c=biws,r=" + proof,
           "c=biws," + nonce + "x" + proof,
           "c=biws,r=rOprNGfwEbeRWgbNEkqO" + proof,
           "c=biws," + nonce + "," + nonce + proof,
           "c=biws," + nonce + ",m=1" + proof,
           "c=biws," + nonce + "," + proof,
           good + "\0"s,
           "c=biws," + nonce + ",x=" + std::string(ScramExchange::kLongestMessage, 'a') + proof,
       }) {
    auto exchange = challenged();
    EXPECT_THROW(exchange.finish(message), ProtocolError) << message;
  }
  EXPECT_TRUE(challenged().finish(good).has_value());
}

}  // namespace
}  // namespace eindb
