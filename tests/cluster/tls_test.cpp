// Connections with TLS, where the certificates' authority determines the nodes.

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "common/error.hpp"
#include "tests/cluster/local_nodes.hpp"
#include "tests/executor/exchange_checks.hpp"
#include "tests/executor/rank_threads.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

/// Creates the certificate and key of a separate authority as files.
TlsOptions make_certificate(const ScratchDirectory& scratch, const std::string& name) {
  TlsOptions options{.certificate = scratch.file(name + ".crt"),
                     .key = scratch.file(name + ".key"),
                     .authority = scratch.file(name + ".crt")};
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"),
                                                                &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  auto* subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(certificate.get(), subject);
  X509_sign(certificate.get(), key.get(), EVP_sha256());

  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  PEM_write_X509(File(std::fopen(options.certificate.c_str(), "w"), &std::fclose).get(), certificate.get());
  PEM_write_PrivateKey(File(std::fopen(options.key.c_str(), "w"), &std::fclose).get(), key.get(), nullptr, nullptr, 0,
                       nullptr, nullptr);
  std::filesystem::permissions(options.key, std::filesystem::perms::owner_read);
  return options;
}

class TlsTest : public testing::TestWithParam<ExchangeCheck> {
 protected:
  ScratchDirectory scratch_;
  TlsOptions ours_ = make_certificate(scratch_, "ours");
};

TEST_P(TlsTest, ExchangesDoWhatTheyDo) {
  auto options = local_options("a secret of the cluster");
  options.tls = ours_;
  LocalNodes nodes(3, options);
  auto exchanges = nodes.open();
  run_ranks(exchanges, GetParam().run);
}

INSTANTIATE_TEST_SUITE_P(All, TlsTest, testing::ValuesIn(exchange_checks().begin(), exchange_checks().end()),
                         [](const auto& test) { return test.param.name; });

TEST_F(TlsTest, CertificateOfAnotherAuthorityIsRefused) {
  LoggedLines log;
  auto options = local_options("", &log);
  options.tls = ours_;
  const TcpNode node(options);
  auto strange_options = local_options();
  strange_options.tls = make_certificate(scratch_, "strange");
  TcpNode stranger(strange_options);
  EXPECT_THROW(stranger.connect(address_of(node)), Error);
  EXPECT_TRUE(log.has("refused"));
}

TEST_F(TlsTest, WhoBeginsWithoutTlsIsToldSo) {
  LoggedLines log;
  auto options = local_options("", &log);
  options.tls = ours_;
  const TcpNode node(options);
  TcpNode plain(local_options());
  try {
    plain.connect(address_of(node));
    ADD_FAILURE() << "it has no certificate";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("the node expects TLS"), std::string::npos) << error.message();
  }
  EXPECT_TRUE(log.has("does not begin with TLS as it should"));
}

TEST_F(TlsTest, CertificatesAloneLetNodesListenBeyondThisMachine) {
  auto options = local_options();
  options.listen = "0.0.0.0:0";
  options.tls = ours_;
  EXPECT_NE(TcpNode(options).port(), 0);
}

}  // namespace
}  // namespace eindb
