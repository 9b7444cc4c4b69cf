#include "cluster/cluster_secret.hpp"

#include "common/error.hpp"
#include "common/file_stream.hpp"
#include "security/private_file.hpp"

namespace eindb {
namespace {

// All nodes must derive the same key without communication, so the salt is a constant. It only defeats tables
// precomputed for other programs.
constexpr std::string_view kSalt = "eindb cluster secret";
constexpr int kIterations = 20'000;

}  // namespace

ClusterSecret::ClusterSecret(std::string_view text)
    : is_given_(!text.empty()), key_(pbkdf2_sha256(text, kSalt, kIterations)) {}

// Its key is derived once for a process.
const ClusterSecret& ClusterSecret::none() {
  static const ClusterSecret secret{std::string_view()};
  return secret;
}

ClusterSecret ClusterSecret::from_file(const std::string& path) {
  check_private_file(path, "secret");
  FileStream file(path);
  std::string line;
  if (!std::getline(file, line) && !file.eof()) throw Error(ErrorKind::Io, "cannot read the secret '" + path + "'");
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (line.size() < kFewestBytes)
    throw Error(
        ErrorKind::Value, "the secret '" + path + "' is too short", std::nullopt,
        "its first line has " + std::to_string(kFewestBytes) + " bytes at least: openssl rand -hex 32 > " + path);
  ClusterSecret secret(line);
  wipe(line);
  return secret;
}

}  // namespace eindb
