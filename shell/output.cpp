#include "shell/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/error.hpp"

namespace eindb {

void Output::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), target()) != text.size()) fail();
}

void Output::flush() {
  if (std::fflush(target()) != 0) fail();
}

bool Output::is_terminal() const { return !file_ && isatty(STDOUT_FILENO) != 0; }

void Output::redirect(const std::string& path) {
  std::unique_ptr<std::FILE, Close> file;
  if (!path.empty()) file.reset(std::fopen(path.c_str(), "we"));
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
