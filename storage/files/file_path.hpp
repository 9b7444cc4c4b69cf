#pragma once

#include <fcntl.h>

#include <memory>
#include <string>
#include <utility>

#include "storage/files/files_directory.hpp"

namespace eindb {

/// A file as somebody names it, and how far such names may lead: anywhere, or no further than a directory.
class FilePath {
 public:
  /// Where a file lies: `name` from directory() on, as the system's calls that end in "at" take it.
  class Place {
   public:
    Place(FileDescriptor within, std::string file) : name(std::move(file)), within_(std::move(within)) {}
    int directory() const { return within_ ? within_.get() : AT_FDCWD; }
    /// Whether directory() was walked to, so that the file must be in it itself.
    bool is_confined() const { return static_cast<bool>(within_); }
    std::string name;

   private:
    FileDescriptor within_;
  };

  /// Anywhere. Implicit: a path is what is meant.
  FilePath(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  FilePath(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)
  FilePath(std::string text, std::shared_ptr<const FilesDirectory> within)
      : text_(std::move(text)), within_(std::move(within)) {}

  /// As it was written, for messages.
  const std::string& text() const { return text_; }
  /// Errors as FilesDirectory::find.
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
