#include "storage/files/input_directory.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "common/error.hpp"
#include "common/open_file.hpp"
#include "storage/files/directory_path.hpp"

namespace eindb {
namespace {

FileDescriptor open_input_directory(const FilePath& path) {
  const auto place = path.place();
  return FileDescriptor(
      open_file(place.directory(), place.name, O_RDONLY | O_DIRECTORY | (place.is_confined() ? O_NOFOLLOW : 0)));
}

}  // namespace

InputDirectory::InputDirectory(const FilePath& path) : path_(path.text()), directory_(open_input_directory(path)) {
  if (directory_) return;
  throw Error(ErrorKind::Io, "cannot read " + path_ + ": " + std::strerror(errno), std::nullopt, "check the path");
}

std::unique_ptr<InputDirectory> InputDirectory::find(const FilePath& path) {
  auto directory = open_input_directory(path);
  if (directory) return std::unique_ptr<InputDirectory>(new InputDirectory(path.text(), std::move(directory)));
  if (errno == ENOENT) return nullptr;
  throw Error(ErrorKind::Io, "cannot read " + path.text() + ": " + std::strerror(errno), std::nullopt,
              "check the path");
}

void InputDirectory::fail(const std::string& name) const {
  throw Error(ErrorKind::Io, "cannot read " + path_ + "/" + name + ": " + std::strerror(errno), std::nullopt,
              "symbolic links within a directory are not followed");
}

FileDescriptor InputDirectory::descend(const std::vector<std::string>& names) const {
  auto at = FileDescriptor(open_file(directory_.get(), ".", O_RDONLY | O_DIRECTORY));
  for (const auto& name : names) {
    if (!at) break;
    at = open_below(at.get(), name);
  }
  return at;
}

std::unique_ptr<InputFile> InputDirectory::file(const std::string& name) const {
  auto names = components_below(name);
  const auto last = std::move(names.back());
  names.pop_back();
  const auto directory = names.empty() ? FileDescriptor() : descend(names);
  if (!names.empty() && !directory) {
    if (errno == ENOENT) return nullptr;
    fail(name);
  }
  const int descriptor =
      open_file(names.empty() ? directory_.get() : directory.get(), last, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor >= 0) return std::make_unique<InputFile>(path_ + "/" + name, descriptor);
  if (errno == ENOENT) return nullptr;
  fail(name);
}

std::optional<std::string> InputDirectory::read(const std::string& name, std::int64_t most) const {
  const auto found = file(name);
  if (found == nullptr) return std::nullopt;
  if (found->size() > most)
    throw Error(ErrorKind::Unsupported, found->path() + " has more than " + std::to_string(most) + " bytes");
  std::string text(static_cast<std::size_t>(found->size()), '\0');
  found->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::string> InputDirectory::names(const std::string& name, std::size_t most) const {
  const auto directory = descend(name.empty() ? std::vector<std::string>() : components_below(name));
  if (!directory) fail(name);
  return names_below(directory.get(), name.empty() ? path_ : path_ + "/" + name, most);
}

bool InputDirectory::is_empty(const std::string& name) const {
  const auto directory = descend(name.empty() ? std::vector<std::string>() : components_below(name));
  if (!directory) fail(name);
  return is_empty_below(directory.get(), name.empty() ? path_ : path_ + "/" + name);
}

bool InputDirectory::has_directory(const std::string& name) const {
  return static_cast<bool>(descend(components_below(name)));
}

}  // namespace eindb
