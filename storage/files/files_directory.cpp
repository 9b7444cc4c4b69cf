#include "storage/files/files_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "common/error.hpp"
#include "common/open_file.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

[[noreturn]] void leads_out(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::Permission, path + " is not in the server's directory of files: " + why, std::nullopt,
              "name a file below it: 'x.npy'");
}

[[noreturn]] void cannot_open(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::Io, "cannot open " + path + ": " + why, std::nullopt, "check the path");
}

// Splits a path: "a//./b" gives a, b.
std::vector<std::string> components_of(std::string_view path) {
  std::vector<std::string> components;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto name = path.substr(begin, end - begin);
    if (!name.empty() && name != ".") components.emplace_back(name);
    begin = end + 1;
  }
  return components;
}

// The rest of `path` after `directory`; empty if `path` does not begin with it.
std::string_view behind(std::string_view directory, std::string_view path) {
  if (!path.starts_with(directory)) return {};
  path.remove_prefix(directory.size());
  return directory.ends_with('/') || path.starts_with('/') ? path : std::string_view();
}

bool is_link(int directory, const std::string& name) {
  struct stat status {};
  return ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

}  // namespace

FilesDirectory::FilesDirectory(const std::string& path) : given_(path) {
  std::error_code error;
  path_ = fs::canonical(path, error).string();
  if (!error) descriptor_ = FileDescriptor(open_file(path_, kDirectory));
  if (descriptor_) return;
  throw Error(ErrorKind::Io,
              "cannot use " + path + " as the directory of files: " + (error ? error.message() : std::strerror(errno)),
              std::nullopt, "give a directory that is there with --files-dir");
}

std::string_view FilesDirectory::relative(std::string_view path) const {
  if (!path.starts_with('/')) return path;
  if (const auto rest = behind(path_, path); !rest.empty()) return rest;
  return behind(given_, path);
}

FilesDirectory::Place FilesDirectory::find(const std::string& path) const {
  if (path.find('\0') != std::string::npos) leads_out("a path with a zero byte", "it is no path");
  auto names = components_of(relative(path));
  if (names.empty()) leads_out("'" + path + "'", path.starts_with('/') ? "it begins elsewhere" : "it names no file");
  for (const auto& name : names)
    if (name == "..") leads_out("'" + path + "'", "it has '..' in it");
  if (path.ends_with('/')) cannot_open(path, "it is a directory");
  Place place{.directory = FileDescriptor(::fcntl(descriptor_.get(), F_DUPFD_CLOEXEC, 0)),
              .name = std::move(names.back())};
  // Without the descriptor a name would be looked for in the working directory.
  if (!place.directory) cannot_open(path, std::strerror(errno));
  names.pop_back();
  for (const auto& name : names) place.directory = descend(place.directory, name, path);
  if (is_link(place.directory.get(), place.name)) leads_out("'" + path + "'", "it is a symbolic link");
  return place;
}

FileDescriptor FilesDirectory::descend(const FileDescriptor& from, const std::string& name,
                                       const std::string& path) const {
  FileDescriptor next(open_file(from.get(), name, kDirectory));
  if (next) return next;
  const auto failure = errno;
  if (is_link(from.get(), name)) leads_out("'" + path + "'", name + " is a symbolic link");
  cannot_open(path, std::strerror(failure));
}

bool FilesDirectory::contains(const std::string& path) const {
  std::error_code error;
  const auto file = fs::canonical(path, error).string();
  return !error && !behind(path_, file).empty();
}

}  // namespace eindb
