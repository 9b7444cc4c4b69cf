#include "storage/files/directory_path.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/error.hpp"
#include "common/open_databases.hpp"
#include "common/open_file.hpp"

namespace eindb {
namespace {

constexpr int kDeepestTree = 100;
constexpr std::size_t kMostComponents = 64;
constexpr std::size_t kLongestComponent = 255;
constexpr std::size_t kMostNames = 100'000'000;

struct CloseListing {
  void operator()(DIR* listing) const noexcept { ::closedir(listing); }
};
using Listing = std::unique_ptr<DIR, CloseListing>;

/// Null, with errno, if the directory cannot be listed. A descriptor of its own, so that its position is its own.
Listing listing_of(int directory) {
  auto own = FileDescriptor(open_file(directory, ".", O_RDONLY | O_DIRECTORY));
  if (!own) return nullptr;
  Listing listing(::fdopendir(own.get()));
  if (listing != nullptr) own.release();
  return listing;
}

/// Calls `take` for each name until it returns false.
template <class F>
void each_name(int directory, const std::string& path, const F& take) {
  const auto listing = listing_of(directory);
  const auto fail = [&] { throw Error(ErrorKind::Io, "cannot read " + path + ": " + std::strerror(errno)); };
  if (listing == nullptr) fail();
  for (;;) {
    errno = 0;
    const auto* entry = ::readdir(listing.get());
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    if (name != "." && name != ".." && !take(name)) return;
  }
  if (errno != 0) fail();
}

bool is_directory_below(int directory, const std::string& name) {
  struct stat status {};
  return ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

void refuse_tree(int directory, const std::string& name, const std::string& path, int depth) {
  if (depth > kDeepestTree)
    throw Error(ErrorKind::Unsupported, path + " is nested more than " + std::to_string(kDeepestTree) + " deep");
  const auto below = open_below(directory, name);
  if (!below) return;
  for (const auto& entry : names_below(below.get(), path, kMostNames)) {
    if (is_directory_below(below.get(), entry)) refuse_tree(below.get(), entry, path, depth + 1);
    else refuse_open_database(below.get(), entry, "cannot replace " + path);
  }
}

void remove_below(int directory, const std::string& name, int depth) {
  if (depth > kDeepestTree) return;
  if (const auto below = open_below(directory, name); below)
    for (const auto& entry : names_below(below.get(), name, kMostNames)) {
      if (is_directory_below(below.get(), entry)) remove_below(below.get(), entry, depth + 1);
      else if (!is_of_open_database(below.get(), entry)) ::unlinkat(below.get(), entry.c_str(), 0);
    }
  ::unlinkat(directory, name.c_str(), AT_REMOVEDIR);
}

}  // namespace

std::vector<std::string> components_below(std::string_view path) {
  std::vector<std::string> out;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::Value, "'" + std::string(path.substr(0, 80)) + "' is no path below a directory: " + why,
                std::nullopt, "names with '/' between them, as in 'group/x'");
  };
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto name = path.substr(begin, end - begin);
    if (name.empty()) refuse("a name in it is empty");
    if (name == "." || name == "..") refuse("it has '" + std::string(name) + "' in it");
    if (name.find('\0') != std::string_view::npos) refuse("it has a zero byte in it");
    if (name.size() > kLongestComponent) refuse("a name in it has more than 255 bytes");
    if (out.size() == kMostComponents) refuse("it has more than 64 names");
    out.emplace_back(name);
    begin = end + 1;
  }
  return out;
}

FileDescriptor open_below(int directory, const std::string& name) {
  return FileDescriptor(open_file(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

std::vector<std::string> names_below(int directory, const std::string& path, std::size_t most) {
  std::vector<std::string> out;
  each_name(directory, path, [&](std::string_view name) {
    if (out.size() == most)
      throw Error(ErrorKind::Unsupported, path + " has more than " + std::to_string(most) + " files in one directory");
    out.emplace_back(name);
    return true;
  });
  std::sort(out.begin(), out.end());
  return out;
}

bool is_empty_below(int directory, const std::string& path) {
  bool empty = true;
  each_name(directory, path, [&](std::string_view /*name*/) { return empty = false; });
  return empty;
}

void refuse_tree_of_database(int directory, const std::string& name, const std::string& path) {
  refuse_tree(directory, name, path, 0);
}

void remove_tree(int directory, const std::string& name) noexcept {
  try {
    remove_below(directory, name, 0);
  } catch (...) {  // what is left is left: the caller has done what it promised
    errno = 0;
  }
}

}  // namespace eindb
