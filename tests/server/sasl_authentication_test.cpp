// The protocol's messages around an exchange.

#include "server/login/sasl_authentication.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "security/base64.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

using namespace std::literals;
using Outcome = SaslAuthentication::Outcome;

ScramExchange exchange() {
  return {make_verifier("pencil", base64_decode("W22ZaJ0SNY7soEsUEjb6gQ==").value(), 4096),
          "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"};
}

constexpr const char* kSaslClientFirst = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
constexpr const char* kSaslClientFinal =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";

std::string initial(std::string_view mechanism, std::string_view response) {
  std::string body(mechanism);
  body += '\0';
  append_big_endian(body, static_cast<std::int32_t>(response.size()));
  return body + std::string(response);
}

/// The message without its type and length: its kind, then its data.
std::string sent(MessageWriter& out) {
  EXPECT_EQ(out.buffer().at(0), 'R');
  return out.buffer().substr(5);
}

TEST(SaslAuthentication, OffersChannelBindingWithTls) {
  MessageWriter plain;
  SaslAuthentication(exchange()).offer(plain);
  EXPECT_EQ(sent(plain), "\0\0\0\x0aSCRAM-SHA-256\0\0"s);
  MessageWriter tls;
  SaslAuthentication(exchange(), "hash").offer(tls);
  EXPECT_EQ(sent(tls), "\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"s);
}

TEST(SaslAuthentication, TheRightPasswordSucceeds) {
  SaslAuthentication authentication(exchange());
  MessageWriter challenge;
  EXPECT_EQ(authentication.receive(initial("SCRAM-SHA-256", kSaslClientFirst), challenge), Outcome::Continues);
  EXPECT_EQ(sent(challenge),
            "\0\0\0\x0br=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"s);
  MessageWriter last;
  EXPECT_EQ(authentication.receive(kSaslClientFinal, last), Outcome::Succeeded);
  EXPECT_EQ(sent(last), "\0\0\0\x0cv=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="s);
  EXPECT_ANY_THROW(authentication.receive(kSaslClientFinal, last)) << "it is over";
}

TEST(SaslAuthentication, AnotherOneFailsWithoutAnAnswer) {
  SaslAuthentication authentication(ScramExchange(decoy_verifier("secret", "user"), "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"));
  MessageWriter challenge;
  authentication.receive(initial("SCRAM-SHA-256", kSaslClientFirst), challenge);
  MessageWriter last;
  EXPECT_EQ(authentication.receive(kSaslClientFinal, last), Outcome::WrongPassword);
  EXPECT_EQ(last.size(), 0U);
}

TEST(SaslAuthentication, TheFirstMessageMayComeLate) {
  SaslAuthentication authentication(exchange());
  MessageWriter empty;
  EXPECT_EQ(authentication.receive("SCRAM-SHA-256\0\xff\xff\xff\xff"sv, empty), Outcome::Continues);
  EXPECT_EQ(sent(empty), "\0\0\0\x0b"s);
  MessageWriter challenge;
  EXPECT_EQ(authentication.receive(kSaslClientFirst, challenge), Outcome::Continues);
  MessageWriter last;
  EXPECT_EQ(authentication.receive(kSaslClientFinal, last), Outcome::Succeeded);
}

TEST(SaslAuthentication, MalformedMessages) {
  for (const auto& body : {""s, "SCRAM-SHA-256"s, "SCRAM-SHA-256\0"s, initial("SCRAM-SHA-1", kSaslClientFirst),
                           initial("", kSaslClientFirst), initial("scram-sha-256", kSaslClientFirst),
                           initial("SCRAM-SHA-256-PLUS", kSaslClientFirst),
                           initial("SCRAM-SHA-256", kSaslClientFirst) + "x", "SCRAM-SHA-256\0\xff\xff\xff\xfe"s,
                           "SCRAM-SHA-256\0\x7f\xff\xff\xffn,,n=,r=a"s, "SCRAM-SHA-256\0\xff\xff\xff\xffn,,n=,r=a"s}) {
    SaslAuthentication authentication(exchange());
    MessageWriter out;
    EXPECT_THROW(authentication.receive(body, out), ProtocolError) << body;
    EXPECT_EQ(out.size(), 0U);
  }
}

TEST(SaslAuthentication, WithTlsTheChannelIsBoundOrCannotBe) {
  const auto first = [](const char* mechanism, const char* message) {
    SaslAuthentication authentication(exchange(), "hash");
    MessageWriter out;
    return authentication.receive(initial(mechanism, message), out);
  };
  EXPECT_EQ(first("SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=a"), Outcome::Continues);
  EXPECT_EQ(first("SCRAM-SHA-256", "n,,n=,r=a"), Outcome::Continues);
  EXPECT_THROW(first("SCRAM-SHA-256", "y,,n=,r=a"), ProtocolError) << "PLUS was offered, and somebody hid it";
  EXPECT_THROW(first("SCRAM-SHA-256", "p=tls-server-end-point,,n=,r=a"), ProtocolError);
  EXPECT_THROW(first("SCRAM-SHA-256-PLUS", "n,,n=,r=a"), ProtocolError);
}

}  // namespace
}  // namespace eindb
