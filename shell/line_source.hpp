#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <sstream>
#include <string>

#include "common/file_stream.hpp"

namespace eindb {

/// A source of the shell's lines: a user, a script, an option.
class LineSource {
 public:
  enum class Event : std::uint8_t { Line, Interrupted, End };

  virtual ~LineSource() = default;
  /// Reads a line without its end. `continued`: the line continues a statement from earlier lines.
  virtual Event next(std::string& line, bool continued) = 0;
  /// The name for messages, such as "job.sql"; empty if line numbers mean nothing to the user.
  virtual std::string name() const { return {}; }
  virtual bool is_interactive() const { return false; }
  /// Called with a complete statement or command, which may be of several lines, before it runs.
  virtual void remember(const std::string& /*text*/) {}
};

/// The lines of a text given with -c, or by a command.
class ArgumentLines : public LineSource {
 public:
  /// `interactive`: a user has given the text while the shell waited for one.
  explicit ArgumentLines(const std::string& text, bool interactive = false)
      : stream_(text), interactive_(interactive) {}
  Event next(std::string& line, bool continued) override;
  bool is_interactive() const override { return interactive_; }

 private:
  std::istringstream stream_;
  bool interactive_;
};

/// The lines of a file, or of standard input for the path "-".
class FileLines : public LineSource {
 public:
  /// Throws Error{Io} if the file cannot be read; Error{Permission} like open_file.
  explicit FileLines(const std::string& path);
  /// Throws Error{Io} if the remainder cannot be read.
  Event next(std::string& line, bool continued) override;
  std::string name() const override { return name_; }

 private:
  std::string name_;
  std::optional<FileStream> file_;
  std::istream* stream_;  // file_ or std::cin
  bool at_start_ = true;
};

}  // namespace eindb
