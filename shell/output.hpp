#pragma once

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace eindb {

/// The reader of standard output is gone (`eindb ... | head`): nothing is wrong, but nothing is left to do either.
class OutputClosed : public std::exception {
 public:
  const char* what() const noexcept override { return "the reader of the output has gone"; }
};

/// Where results go: standard output, or a file that .output or .once names. Buffered: flush() before waiting for a
/// person or for time. Every write may throw Error{Io} (disk full) or OutputClosed.
class Output {
 public:
  Output() = default;

  void write(std::string_view text);
  void flush();
  /// True if a person looks at it.
  bool is_terminal() const;

  /// Goes on in a new file, or for an empty path on standard output. Throws Error{Io}, or Error{Permission} as
  /// open_file, and changes nothing.
  void redirect(const std::string& path);
  /// As redirect, until end_once(), before which the caller flushes.
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
