#pragma once

#include <array>
#include <istream>
#include <streambuf>
#include <string>

namespace eindb {

/// A text file for reading line by line from the beginning. A failed read sets badbit and errno.
class FileStream : public std::istream {
 public:
  /// Fails like std::ifstream (failbit, errno) if there is no such file. Error{Permission} like open_file.
  explicit FileStream(const std::string& path);

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(int file) : file_(file) {}
    ~Buffer() override;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    bool is_open() const { return file_ >= 0; }

   protected:
    int_type underflow() override;

   private:
    int file_;
    std::array<char, 16384> bytes_{};
  };

  Buffer buffer_;
};

}  // namespace eindb
