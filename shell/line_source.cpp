#include "shell/line_source.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "common/error.hpp"

namespace eindb {
namespace {

LineSource::Event next_line(std::istream& stream, std::string& line) {
  if (!std::getline(stream, line)) return LineSource::Event::End;
  if (line.ends_with('\r')) line.pop_back();
  return LineSource::Event::Line;
}

}  // namespace

LineSource::Event TextLines::next(std::string& line, bool /*continued*/) { return next_line(stream_, line); }

FileLines::FileLines(const std::string& path) : name_(path == "-" ? "stdin" : path), stream_(&std::cin) {
  if (path == "-") return;
  if (std::filesystem::is_directory(path)) throw Error(ErrorKind::Io, "'" + path + "' is a directory");
  file_.open(path);
  if (!file_) throw Error(ErrorKind::Io, "cannot read '" + path + "': " + std::strerror(errno));
  stream_ = &file_;
}

LineSource::Event FileLines::next(std::string& line, bool /*continued*/) { return next_line(*stream_, line); }

}  // namespace eindb
