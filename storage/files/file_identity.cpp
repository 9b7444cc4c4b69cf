#include "storage/files/file_identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::string_view kUnknown = "0.0";

struct Parts {
  std::string_view inode;
  std::string_view made;
};

Parts parts_of(std::string_view identity) {
  const auto colon = identity.find(':');
  if (colon == std::string_view::npos) return {identity, kUnknown};
  return {identity.substr(0, colon), identity.substr(colon + 1)};
}

}  // namespace

std::string file_identity_of(const std::string& path) {
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &found) != 0)
    throw Error(ErrorKind::Io, "cannot look at " + path + ": " + std::strerror(errno));
  const bool has_time = (found.stx_mask & STATX_BTIME) != 0;
  return std::to_string(found.stx_ino) + ":" +
         (has_time ? std::to_string(found.stx_btime.tv_sec) + "." + std::to_string(found.stx_btime.tv_nsec)
                   : std::string(kUnknown));
}

bool is_same_file(std::string_view a, std::string_view b) {
  const auto one = parts_of(a);
  const auto other = parts_of(b);
  return one.inode == other.inode && (one.made == other.made || one.made == kUnknown || other.made == kUnknown);
}

}  // namespace eindb
