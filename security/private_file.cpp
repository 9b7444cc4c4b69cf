#include "security/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/error.hpp"
#include "common/open_databases.hpp"

namespace eindb {

void check_readable_file(const std::string& path, const char* what) {
  refuse_open_database(AT_FDCWD, path, std::string("cannot read the ") + what + " '" + path + "'");
  if (::access(path.c_str(), R_OK) == 0) return;
  throw Error(ErrorKind::Io,
              std::string("cannot read the ") + what + " '" + path + "': " + std::system_category().message(errno));
}

// PostgreSQL's rule for key files.
void check_private_file(const std::string& path, const char* what) {
  const auto text = std::string("the ") + what + " '" + path + "'";
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) check_readable_file(path, what);
  if (!S_ISREG(file.st_mode)) throw Error(ErrorKind::Value, text + " is no file");
  if (file.st_uid != ::geteuid() && file.st_uid != 0)
    throw Error(ErrorKind::Value, text + " belongs to another user", std::nullopt,
                "the server's own user, or root, has to own it");
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  const auto forbidden = file.st_uid == 0 ? kOthers & ~mode_t{S_IRGRP} : kOthers;
  if ((file.st_mode & forbidden) != 0)
    throw Error(ErrorKind::Value, text + " can be read by others", std::nullopt, "chmod 600 " + path);
  check_readable_file(path, what);
}

}  // namespace eindb
