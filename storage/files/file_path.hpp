#pragma once

#include <fcntl.h>

#include <memory>
#include <string>
#include <utility>

#include "storage/files/files_directory.hpp"

namespace eindb {

/// A file name from a user, with its scope: anywhere, or confined to a directory.
class FilePath {
 public:
  /// A location for the system calls that end in "at": `name` relative to directory().
  class Place {
   public:
    Place(FileDescriptor within, std::string file) : name(std::move(file)), within_(std::move(within)) {}
    int directory() const { return within_ ? within_.get() : AT_FDCWD; }
    /// Whether the path is confined: directory() was opened component by component, and the file must lie directly in
    /// it.
    bool is_confined() const { return static_cast<bool>(within_); }
    std::string name;

   private:
    FileDescriptor within_;
  };

  /// An unconfined path. Implicit, so that a string can be passed as a path.
  FilePath(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  FilePath(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)
  FilePath(std::string text, std::shared_ptr<const FilesDirectory> within)
      : text_(std::move(text)), within_(std::move(within)) {}

  /// The path as the user wrote it, for messages.
  const std::string& text() const { return text_; }
  /// The path of what is called `name` in this directory, confined as it is.
  FilePath below(const std::string& name) const { return {text_ + "/" + name, within_}; }
  /// Throws like FilesDirectory::find.
  Place place() const {
    if (within_ == nullptr) return {FileDescriptor(), text_};
    auto found = within_->find(text_);
    return {std::move(found.directory), std::move(found.name)};
  }

 private:
  std::string text_;
  std::shared_ptr<const FilesDirectory> within_;
};

}  // namespace eindb
