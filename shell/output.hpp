#pragma once

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace eindb {

/// The reader of standard output is gone (`eindb ... | head`): not an error, but the end of the work.
class OutputClosed : public std::exception {
 public:
  const char* what() const noexcept override { return "the reader of the output has gone"; }
};

/// The destination of results: standard output, or a file set by .output or .once. Buffered: call flush() before
/// waiting for a user or for time. Every write may throw Error{Io} (disk full) or OutputClosed.
class Output {
 public:
  Output() = default;

  void write(std::string_view text);
  void flush();
  /// Whether the output is a terminal.
  bool is_terminal() const;

  /// Continues in a new file or, for an empty path, on standard output. Throws Error{Io}, or Error{Permission} like
  /// open_file, without a change.
  void redirect(const std::string& path);
  /// Like redirect, until end_once(); the caller must flush before that.
  void redirect_once(const std::string& path);
  void end_once();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::FILE* target() const { return file_ ? file_.get() : stdout; }
  [[noreturn]] void fail() const;

  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
  bool once_ = false;
};

}  // namespace eindb
