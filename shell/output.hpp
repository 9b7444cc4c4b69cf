#pragma once

#include <cstddef>
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

/// The user has left the pager before the end of what it shows: not an error, but the end of that output.
class PagerClosed : public std::exception {
 public:
  const char* what() const noexcept override { return "the pager was left"; }
};

/// The size of a terminal; 0 where it is not known.
struct TerminalSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// The pager of the user: $PAGER, or less, if it is installed; empty: none.
std::string default_pager();

/// The destination of results: standard output, or a file set by .output or .once. Buffered: call flush() before
/// waiting for a user or for time. Every write may throw Error{Io} (disk full), OutputClosed or PagerClosed.
///
/// On a terminal, what is written up to the next flush() may go through a pager. The beginning is held back until it
/// is known whether it exceeds the screen: then the pager begins with it, else it goes to the terminal.
class Output {
 public:
  Output() = default;
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  /// Also waits until the user has left the pager.
  void flush();
  /// Sets the pager, a command of sh, for later output to a terminal; empty: none. Flushes.
  void page_with(const std::string& pager);
  /// Whether the output is a terminal.
  bool is_terminal() const;
  /// The size of that terminal.
  TerminalSize size() const;

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
  void put(std::string_view text);
  void hold(std::string_view text);
  void begin_pager();
  void end_pager();
  [[noreturn]] void fail() const;

  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
  bool once_ = false;

  std::string pager_;           // the command; empty: none
  std::FILE* pages_ = nullptr;  // the running pager
  std::string held_;            // what may need a pager
  std::size_t held_rows_ = 0;   // of the screen, of the complete lines of held_
  std::size_t last_line_ = 0;   // where the last line of held_ begins
};

}  // namespace eindb
