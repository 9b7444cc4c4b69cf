#include "common/file_stream.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "common/open_file.hpp"

namespace eindb {

FileStream::FileStream(const std::string& path) : std::istream(nullptr), buffer_(open_file(path, O_RDONLY)) {
  rdbuf(&buffer_);
  if (!buffer_.is_open()) setstate(std::ios::failbit);
}

FileStream::Buffer::~Buffer() {
  if (file_ >= 0) close_file(file_);
}

FileStream::Buffer::int_type FileStream::Buffer::underflow() {
  ssize_t count = 0;
  do count = ::read(file_, bytes_.data(), bytes_.size());
  while (count < 0 && errno == EINTR);
  if (count < 0) throw std::system_error(errno, std::system_category());  // the stream turns it into badbit
  if (count == 0) return traits_type::eof();
  setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
  return traits_type::to_int_type(*gptr());
}

}  // namespace eindb
