#include "shell/line_source.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <utility>

#include "common/byte_order_mark.hpp"
#include "common/caught_error.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

LineSource::Event next_line(std::istream& stream, std::string& line) {
  errno = 0;
  if (!std::getline(stream, line)) {
    if (stream.bad() && errno == ENOMEM) throw out_of_memory("a line of what is read");
    return LineSource::Event::End;
  }
  if (line.ends_with('\r')) line.pop_back();
  return LineSource::Event::Line;
}

}  // namespace

LineSource::Event ArgumentLines::next(std::string& line, bool /*continued*/) { return next_line(stream_, line); }

FileLines::FileLines(const std::string& path) : name_(path == "-" ? "stdin" : path), stream_(&std::cin) {
  if (path == "-") return;
  if (std::filesystem::is_directory(path)) throw Error(ErrorKind::Io, "'" + path + "' is a directory");
  file_.emplace(path);
  if (!*file_) throw Error(ErrorKind::Io, "cannot read '" + path + "': " + std::strerror(errno));
  stream_ = &*file_;
}

// Files from other systems may begin with a byte order mark.
LineSource::Event FileLines::next(std::string& line, bool /*continued*/) {
  const auto event = next_line(*stream_, line);
  if (stream_->bad()) throw Error(ErrorKind::Io, "cannot read all of '" + name_ + "'");
  if (std::exchange(at_start_, false) && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return event;
}

}  // namespace eindb
