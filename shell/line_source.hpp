#pragma once

#include <cstdint>
#include <fstream>
#include <istream>
#include <sstream>
#include <string>

namespace eindb {

/// Where the shell takes its lines from: a person, a script, an option.
class LineSource {
 public:
  enum class Event : std::uint8_t { Line, Interrupted, End };

  virtual ~LineSource() = default;
  /// Fills `line`, without its end. `continued`: the line goes on with a statement that earlier ones began.
  virtual Event next(std::string& line, bool continued) = 0;
  /// For messages, "job.sql"; empty where a line number says nothing to the user.
  virtual std::string name() const { return {}; }
  virtual bool is_interactive() const { return false; }
};

/// The lines of a text given with -c.
class TextLines : public LineSource {
 public:
  explicit TextLines(const std::string& text) : stream_(text) {}
  Event next(std::string& line, bool continued) override;

 private:
  std::istringstream stream_;
};

/// The lines of a file, or of standard input for the path "-".
class FileLines : public LineSource {
 public:
  /// Throws Error{Io} if the file cannot be read.
  explicit FileLines(const std::string& path);
  Event next(std::string& line, bool continued) override;
  std::string name() const override { return name_; }

 private:
  std::string name_;
  std::ifstream file_;
  std::istream* stream_;  // file_ or std::cin
};

}  // namespace eindb
