#include "server/copy/copy_row_stream.hpp"

#include "common/check.hpp"

namespace eindb {

CopyRowStream::CopyRowStream(const Result& result, const CopyFormatOptions& options, MessageWriter& out)
    : rows_(*result.rows), next_(std::in_place), copy_(options, result.columns) {
  advance();
  copy_.begin(out);
}

bool CopyRowStream::write(MessageWriter& out) {
  DCHECK(next_.has_value(), "a row is copied that was read");
  copy_.row(out, *next_);
  advance();
  return true;
}

void CopyRowStream::advance() {
  DCHECK(next_.has_value(), "no row is read behind the last one");
  if (!rows_.next(*next_)) next_.reset();
}

}  // namespace eindb
