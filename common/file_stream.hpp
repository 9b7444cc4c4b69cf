#pragma once

#include <array>
#include <istream>
#include <streambuf>
#include <string>

namespace eindb {

/// A text file for reading line by line, from its beginning. What cannot be read sets badbit, and errno says why.
class FileStream : public std::istream {
 public:
  /// Fails like std::ifstream (failbit, errno) where there is no such file. Error{Permission} as open_file.
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
