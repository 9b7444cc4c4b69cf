#include "server/copy/copy_file_stream.hpp"

#include <utility>

#include "common/check.hpp"
#include "server/copy/copy_file.hpp"

namespace eindb {

CopyFileStream::CopyFileStream(std::unique_ptr<TransferFile> file, MessageWriter& out)
    : file_(std::move(file)), next_(file_->read(buffer_)) {
  write_file_response(out, 'H');
}

bool CopyFileStream::write(MessageWriter& out) {
  CHECK(!at_end_, "a file is sent once");
  while (!next_.empty() && out.size() < kPortionBytes) {
    out.begin('d').bytes(next_).end();
    next_ = file_->read(buffer_);
  }
  at_end_ = next_.empty();
  return at_end_;
}

}  // namespace eindb
