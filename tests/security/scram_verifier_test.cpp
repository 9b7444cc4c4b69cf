// Verifiers equal those of PostgreSQL and its clients, and other texts are rejected.

#include "security/scram_verifier.hpp"

#include <gtest/gtest.h>

#include "security/base64.hpp"

namespace eindb {
namespace {

const std::string kSalt = base64_decode("W22ZaJ0SNY7soEsUEjb6gQ==").value();
// Computed with Python's hashlib from the password and salt of RFC 7677.
constexpr const char* kPencil =
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
    "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

TEST(ScramVerifier, IsThatOfPostgreSql) {
  EXPECT_EQ(make_verifier("pencil", kSalt, 4096).text(), kPencil);
  const auto parsed = parse_verifier(kPencil);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->text(), kPencil);
  EXPECT_EQ(parsed->iterations, 4096);
  EXPECT_EQ(parsed->salt, kSalt);
}

TEST(ScramVerifier, EachHasASaltOfItsOwn) {
  const auto a = make_verifier("pencil");
  const auto b = make_verifier("pencil");
  EXPECT_EQ(a.salt.size(), ScramVerifier::kSaltBytes);
  EXPECT_NE(a.salt, b.salt);
  EXPECT_NE(a.text(), b.text());
  EXPECT_EQ(make_verifier("pencil", a.salt, a.iterations).text(), a.text());
  EXPECT_NE(make_verifier("pencils", a.salt, a.iterations).text(), a.text());
}

TEST(ScramVerifier, OtherTextsAreNone) {
  const std::string good = kPencil;
  const auto with = [&](const std::string& old, const std::string& replacement) {
    return std::string(good).replace(good.find(old), old.size(), replacement);
  };
  for (const auto& text :
       {std::string(), std::string("SCRAM-SHA-256$"), with("SCRAM-SHA-256", "SCRAM-SHA-1"), with("4096", "0"),
        with("4096", "-1"), with("4096", ""), with("4096", "4096 "), with("4096", "99999999999"), with("==$", "$"),
        with("W22ZaJ0SNY7soEsUEjb6gQ==", ""), with("W22Z", "W2!Z"), with("WG5d", ""), with(":wfPL", "$wfPL"),
        with("2dU=", ""), good + "=", good + ":", " " + good}) {
    EXPECT_FALSE(parse_verifier(text).has_value()) << text;
  }
}

TEST(ScramVerifier, DecoysAreSteadyAndDiffer) {
  const auto ann = decoy_verifier("secret", "ann");
  EXPECT_EQ(decoy_verifier("secret", "ANN").text(), ann.text()) << "names match in any case";
  EXPECT_NE(decoy_verifier("secret", "bob").salt, ann.salt);
  EXPECT_NE(decoy_verifier("another", "ann").salt, ann.salt);
  EXPECT_EQ(ann.salt.size(), ScramVerifier::kSaltBytes);
  EXPECT_EQ(ann.iterations, ScramVerifier::kIterations);
  EXPECT_TRUE(parse_verifier(ann.text()).has_value());
}

TEST(Base64, OneTextForEachSequenceOfBytes) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_decode(""), "");
  EXPECT_EQ(base64_decode("Zg=="), "f");
  EXPECT_EQ(base64_decode("Zm8="), "fo");
  EXPECT_EQ(base64_decode(base64_encode(std::string("\0\xff\0", 3))), std::string("\0\xff\0", 3));
  for (const char* text : {"Z", "Zg", "Zg=", "Zh==", "Zg==Zg==", "====", "Z===", "Zm9v\nYmFy", " Zm9", "Zm9vYmF\n",
                           "Zm-v", "=m9v", "\xff\xff\xff\xff"})
    EXPECT_FALSE(base64_decode(text).has_value()) << text;
}

}  // namespace
}  // namespace eindb
