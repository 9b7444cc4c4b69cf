#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/check.hpp"

namespace eindb {

/// The bytes of a client that are received and not yet consumed. They do not move until the next append().
class CopyBuffer {
 public:
  void append(std::string_view bytes) {
    bytes_.erase(0, begin_);
    begin_ = 0;
    bytes_.append(bytes);
  }
  std::string_view rest() const { return std::string_view(bytes_).substr(begin_); }
  void consume(std::size_t count) {
    DCHECK(count <= bytes_.size() - begin_, "no more is used up than has come");
    begin_ += count;
  }

  /// No more bytes will be appended.
  void finish() { finished_ = true; }
  bool finished() const { return finished_; }

 private:
  std::string bytes_;
  std::size_t begin_ = 0;
  bool finished_ = false;
};

}  // namespace eindb
