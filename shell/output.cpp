#include "shell/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/error.hpp"
#include "common/open_file.hpp"

namespace eindb {
namespace {

struct OpenFile {
  explicit OpenFile(int file) : descriptor(file) {}
  ~OpenFile() {
    if (descriptor >= 0) close_file(descriptor);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor;
};

/// A stdio file based on open_file(); null, with errno set, if it cannot be opened.
std::FILE* open_stream(const std::string& path) {
  auto owner = std::make_unique<OpenFile>(open_file(path, O_WRONLY | O_CREAT, 0666));
  if (owner->descriptor < 0) return nullptr;
  struct stat status {};
  const bool replaces = ::fstat(owner->descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (replaces && ::ftruncate(owner->descriptor, 0) != 0) return nullptr;
  cookie_io_functions_t calls{};
  calls.write = [](void* cookie, const char* bytes, std::size_t size) {
    const int descriptor = static_cast<OpenFile*>(cookie)->descriptor;
    for (std::size_t done = 0; done < size;) {
      const auto written = ::write(descriptor, bytes + done, size - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ssize_t{0};  // stdio's error value here
      done += static_cast<std::size_t>(written);
    }
    return static_cast<ssize_t>(size);
  };
  calls.close = [](void* cookie) {
    const std::unique_ptr<OpenFile> file(static_cast<OpenFile*>(cookie));
    return close_file(std::exchange(file->descriptor, -1)) ? 0 : -1;
  };
  auto* stream = ::fopencookie(owner.get(), "w", calls);
  if (stream != nullptr) static_cast<void>(owner.release());  // the stream owns it now
  return stream;
}

}  // namespace

void Output::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), target()) != text.size()) fail();
}

void Output::flush() {
  if (std::fflush(target()) != 0) fail();
}

bool Output::is_terminal() const { return !file_ && isatty(STDOUT_FILENO) != 0; }

void Output::redirect(const std::string& path) {
  std::unique_ptr<std::FILE, Close> file;
  if (!path.empty()) file.reset(open_stream(path));
  if (!path.empty() && !file) throw Error(ErrorKind::Io, "cannot write to '" + path + "': " + std::strerror(errno));
  flush();
  file_ = std::move(file);
  path_ = path;
  once_ = false;
}

void Output::redirect_once(const std::string& path) {
  redirect(path);
  once_ = true;
}

void Output::end_once() {
  if (once_) file_.reset();
  once_ = false;
}

void Output::fail() const {
  if (errno == EPIPE && !file_) throw OutputClosed();
  throw Error(ErrorKind::Io,
              "cannot write to " + (file_ ? "'" + path_ + "'" : "standard output") + ": " + std::strerror(errno));
}

}  // namespace eindb
