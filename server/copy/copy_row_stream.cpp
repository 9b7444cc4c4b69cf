#include "server/copy/copy_row_stream.hpp"

namespace eindb {

CopyRowStream::CopyRowStream(const Result& result, const CopyFormatOptions& options, MessageWriter& out)
    : rows_(*result.rows), next_(std::in_place), copy_(options, result.columns) {
  advance();
  copy_.begin(out);
}

bool CopyRowStream::write(MessageWriter& out) {
  copy_.row(out, *next_);
  advance();
  return true;
}

void CopyRowStream::advance() {
  if (!rows_.next(*next_)) next_.reset();
}

}  // namespace eindb
