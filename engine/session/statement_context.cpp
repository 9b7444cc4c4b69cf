#include "engine/session/statement_context.hpp"

#include "common/check.hpp"

namespace eindb {

FilePath StatementContext::file_to_read(const std::string& path) const {
  return transfer_.empty() ? user_.permissions.file_to_read(path) : FilePath(transfer_);
}

FilePath StatementContext::file_to_write(const std::string& path) const {
  return transfer_.empty() ? user_.permissions.file_to_write(path) : FilePath(transfer_);
}

void StatementContext::report(std::string_view stage, std::int64_t done, std::int64_t total) const {
  DCHECK(!stage.empty() && done >= 0, "progress is that of a stage, and counts what is done");
  if (loop_depth_ == 0) show_progress(stage, done, total);
}

void StatementContext::report_rounds(std::int64_t done, std::int64_t total) const {
  DCHECK(loop_depth_ > 0 && done <= total, "no more rounds are done than a loop has");
  if (loop_depth_ == 1) show_progress("round", done, total);
}

void StatementContext::tell(const std::string& notice) const {
  if (user_.notices) user_.notices(notice);
}

void StatementContext::show_progress(std::string_view stage, std::int64_t done, std::int64_t total) const {
  if (user_.progress && user_.settings.progress())
    user_.progress(Progress{.stage = stage, .done = done, .total = total});
}

}  // namespace eindb
