// Hashes of certificates, compared with the output of `openssl x509 -outform der | sha384sum`.

#include "security/certificate_hash.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <memory>

namespace eindb {
namespace {

constexpr const char* kEcdsaWithSha384 =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBbjCCARWgAwIBAgIUZfzn/yz8uh6uK4zmNyjn4bpZlu8wCgYIKoZIzj0EAwMw\n"
    "DDEKMAgGA1UEAwwBYTAgFw0yNjExMjIwNDE5MDVaGA8yMTI2MTAyOTA0MTkwNVow\n"
    "DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHsN+TuLscO5\n"
    "dOaFfq3XLcf0jGTUKdMIolod8EHsThDPM//XlhhfDuvpY6RRSf1d+8rjykaH3nm+\n"
    "rNmsT81/tVWjUzBRMB0GA1UdDgQWBBSmoL4oHt/vvCG7Su4HKtKjnaOm5jAfBgNV\n"
    "HSMEGDAWgBSmoL4oHt/vvCG7Su4HKtKjnaOm5jAPBgNVHRMBAf8EBTADAQH/MAoG\n"
    "CCqGSM49BAMDA0cAMEQCIG8YUED9f9FiLbFlICnUVjYCAfKfIbim1W9TOwXR9sGi\n"
    "AiBhXmm8polZb0y+Sum34J/dFT29fal+I2FV8eBtMOhw4Q==\n"
    "-----END CERTIFICATE-----\n";
constexpr const char* kEcdsaWithSha1 =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBbDCCARSgAwIBAgIUPtp94KYLOGR0v/g6xT3mHgd+tNgwCQYHKoZIzj0EATAM\n"
    "MQowCAYDVQQDDAFhMCAXDTI2MTEyMjA0MTkwNVoYDzIxMjYxMDI5MDQxOTA1WjAM\n"
    "MQowCAYDVQQDDAFhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEPeJm15fQ5F1t\n"
    "s14oqF2EN7KugWnHf05ltsogHQ2j8SgH/s2gt1mlzCU52wYBr6OHaRq6LL0twgFR\n"
    "Nv9SePWVMKNTMFEwHQYDVR0OBBYEFGy0WqkJmm6+o9SnLvxIEtEJA0a6MB8GA1Ud\n"
    "IwQYMBaAFGy0WqkJmm6+o9SnLvxIEtEJA0a6MA8GA1UdEwEB/wQFMAMBAf8wCQYH\n"
    "KoZIzj0EAQNHADBEAiAnFmJtUFnkYzTaDwqOVIIotfY0LuE++zLr6CB7Q11tAQIg\n"
    "Jq1rw1X0sLAUschn3HtVHZKIWK987z9W6aNPrlZlABQ=\n"
    "-----END CERTIFICATE-----\n";
constexpr const char* kEd25519 =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBLjCB4aADAgECAhRQznye8oW6lq4dIwMoZ4x/XQKQ8jAFBgMrZXAwDDEKMAgG\n"
    "A1UEAwwBYTAgFw0yNjExMjIwNDE5MDVaGA8yMTI2MTAyOTA0MTkwNVowDDEKMAgG\n"
    "A1UEAwwBYTAqMAUGAytlcAMhAIEfb12IG1e6AJuGoYVk08yNbirJ7/26M44w0L97\n"
    "rgaNo1MwUTAdBgNVHQ4EFgQUjhEIfHwOW83suMQpOqP0nKTIrOQwHwYDVR0jBBgw\n"
    "FoAUjhEIfHwOW83suMQpOqP0nKTIrOQwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXAD\n"
    "QQAxZJyiZ0l64mcqrTLfhUzhKuxiYthKGBU14lBpoGjJgGFKNHPThpDYD9oUUbcy\n"
    "x0oO0kxTgwAzOy7n3lMQOH8H\n"
    "-----END CERTIFICATE-----\n";

std::string hash_of(const char* pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new_mem_buf(pem, -1), &BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), &X509_free);
  if (certificate == nullptr) return "no certificate";
  std::string hexadecimal;
  for (const unsigned char byte : certificate_hash(*certificate))
    hexadecimal += {"0123456789abcdef"[byte >> 4U], "0123456789abcdef"[byte & 15U]};
  return hexadecimal;
}

TEST(CertificateHash, IsThatOfTheSignature) {
  EXPECT_EQ(hash_of(kEcdsaWithSha384),
            "4236c6fe8d26dacf1b7454ff0030ec71ec817781c9b6421387543cbb2597b3746526e38974bdb4c394533b555f82252c");
}

TEST(CertificateHash, IsSha256InPlaceOfSha1) {
  EXPECT_EQ(hash_of(kEcdsaWithSha1), "bf43a7ce0bb78a3d30a22b52baa27e7a3fced9bceca5a7c42dd55ed045fa01bd");
}

TEST(CertificateHash, SomeSignaturesHaveNone) { EXPECT_EQ(hash_of(kEd25519), ""); }

}  // namespace
}  // namespace eindb
