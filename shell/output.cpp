#include "shell/output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "common/error.hpp"
#include "common/open_file.hpp"
#include "shell/text_width.hpp"

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

/// Whether a program of that name is in $PATH.
bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

std::string default_pager() {
  const char* chosen = std::getenv("PAGER");
  if (chosen != nullptr) return chosen;
  return is_installed("less") ? "less" : "";
}

Output::~Output() {
  if (pages_ != nullptr) ::pclose(pages_);
}

void Output::write(std::string_view text) {
  if (pages_ == nullptr && !pager_.empty() && is_terminal()) hold(text);
  else put(text);
}

void Output::put(std::string_view text) {
  auto* stream = pages_ != nullptr ? pages_ : target();
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) fail();
}

void Output::flush() {
  if (pages_ != nullptr) return end_pager();
  const auto held = std::exchange(held_, {});
  held_rows_ = last_line_ = 0;
  put(held);
  if (std::fflush(target()) != 0) fail();
}

void Output::page_with(const std::string& pager) {
  if (pager == pager_) return;
  flush();
  pager_ = pager;
}

/// Counts the rows of the screen that the held text takes, and begins the pager when they are too many.
void Output::hold(std::string_view text) {
  const auto [rows, columns] = size();
  if (rows == 0 || columns == 0) return put(text);
  held_ += text;
  for (std::size_t end = 0; (end = held_.find('\n', last_line_)) != std::string::npos; last_line_ = end + 1) {
    const auto width = display_width(std::string_view(held_).substr(last_line_, end - last_line_));
    held_rows_ += std::max<std::size_t>((width + columns - 1) / columns, 1);
    if (held_rows_ >= rows) return begin_pager();  // the prompt takes a row, too
  }
}

void Output::begin_pager() {
  std::fflush(stdout);
  // As git does it; what the user has set takes precedence.
  const auto command = "LESS=\"${LESS-FRX}\" LESSCHARSET=\"${LESSCHARSET-utf-8}\" " + pager_;
  pages_ = ::popen(command.c_str(), "we");
  if (pages_ == nullptr)
    throw Error(ErrorKind::Io, "cannot start the pager '" + pager_ + "': " + std::strerror(errno), std::nullopt,
                ".pager off shows results without one");
  const auto held = std::exchange(held_, {});
  held_rows_ = last_line_ = 0;
  put(held);
}

void Output::end_pager() {
  constexpr int kNotFound = 127;
  const int status = ::pclose(std::exchange(pages_, nullptr));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound)
    throw Error(ErrorKind::Io, "there is no pager '" + pager_ + "'", std::nullopt,
                ".pager off shows results without one");
}

bool Output::is_terminal() const { return !file_ && isatty(STDOUT_FILENO) != 0; }

TerminalSize Output::size() const {
  winsize size{};
  if (!is_terminal() || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

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
  if (pages_ != nullptr) throw PagerClosed();
  if (errno == EPIPE && !file_) throw OutputClosed();
  throw Error(ErrorKind::Io,
              "cannot write to " + (file_ ? "'" + path_ + "'" : "standard output") + ": " + std::strerror(errno));
}

}  // namespace eindb
