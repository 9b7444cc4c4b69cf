#include "server/statements/cursor.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "engine/results/row_bytes.hpp"

namespace eindb {
namespace {

using command::Fetch;

constexpr std::string_view kNotInState = "55000";
constexpr std::string_view kInUse = "55006";

}  // namespace

/// The rows of one FETCH.
class Cursor::FetchedRows final : public RowSource {
 public:
  FetchedRows(std::shared_ptr<Cursor> cursor, Run run) : cursor_(std::move(cursor)), run_(run) {
    CHECK(!cursor_->fetching_, "a cursor takes one command at a time");
    cursor_->fetching_ = run_.count > 0;
  }
  ~FetchedRows() override {
    if (run_.count == 0) return;
    cursor_->fetching_ = false;
    cursor_->owed_ = run_;
  }
  FetchedRows(const FetchedRows&) = delete;
  FetchedRows& operator=(const FetchedRows&) = delete;

  bool next(Row& row) override {
    if (run_.count == 0) return false;
    const bool has_row = cursor_->next_of_run(run_, row);
    cursor_->fetching_ = run_.count > 0;
    return has_row;
  }

 private:
  std::shared_ptr<Cursor> cursor_;
  Run run_;
};

Cursor::Cursor(CursorDeclaration declaration, std::string text, Result result, ClientQuota& quota)
    : declaration_(std::move(declaration)),
      text_(std::move(text)),
      columns_(result.columns),
      result_(std::move(result)),
      share_(quota.take(text_.size())),
      bytes_(quota) {
  CHECK(result_.rows != nullptr, "a cursor is for a query that gives rows");
}

std::unique_ptr<RowSource> Cursor::fetch(const Fetch& fetch) {
  begin_command();
  return std::make_unique<FetchedRows>(shared_from_this(), find_run(fetch));
}

std::int64_t Cursor::move(const Fetch& fetch) {
  begin_command();
  const bool stays = fetch.count == 0 && fetch.direction != Fetch::Direction::Absolute;
  if (stays) return is_on_row() ? 1 : 0;
  auto run = find_run(fetch);
  std::int64_t rows = 0;
  for (Row skipped; next_of_run(run, skipped);) ++rows;
  return rows;
}

void Cursor::keep_rest() {
  for (Row row; read(row);) keep(std::move(row));
}

// ---- Where a command goes ------------------------------------------------------------------------------------------

void Cursor::begin_command() {
  const auto& name = declaration_.name;
  if (failed_)
    throw CodedError(kNotInState, ErrorKind::Value, "cursor \"" + name + "\" has failed, and gives no more rows",
                     "CLOSE it, and DECLARE it again");
  if (fetching_)
    throw CodedError(kInUse, ErrorKind::Busy, "cursor \"" + name + "\" has rows of an earlier FETCH that are not read",
                     "read them, or close their portal");
  for (Row skipped; next_of_run(owed_, skipped);) {
  }
  DCHECK(owed_.count == 0, "what was owed is given");
}

Cursor::Run Cursor::find_run(const Fetch& fetch) {
  switch (fetch.direction) {
    case Fetch::Direction::Absolute: return absolute(fetch.count);
    case Fetch::Direction::Relative: {
      if (fetch.count == 0) break;  // the same row again
      if (fetch.count < 0) require_scroll();
      const bool beyond = fetch.count > Fetch::kAll - position_;
      return absolute(beyond ? Fetch::kAll : std::max<std::int64_t>(position_ + fetch.count, 0));
    }
    case Fetch::Direction::Forward:
      if (fetch.count > 0) return {.first = position_ + 1, .count = fetch.count, .step = 1};
      break;
    case Fetch::Direction::Backward:
      if (fetch.count == 0) break;
      // Only this leaves a cursor where it begins as it is, as in PostgreSQL.
      if (position_ > 0 || fetch.count != Fetch::kAll || !fetch.moves) require_scroll();
      return {.first = position_ - 1, .count = fetch.count, .step = -1};
  }
  if (!is_on_row()) return {};
  require_scroll();
  return {.first = position_, .count = 1, .step = 1};
}

/// One row by its number, from the end if that is negative.
Cursor::Run Cursor::absolute(std::int64_t row) {
  if (row < 0) {
    require_scroll();
    row = std::max<std::int64_t>(last_row() + row + 1, 0);
  }
  if (row <= position_ && position_ > 0) require_scroll();
  // The rows between are read, or nothing is before the first row.
  Row skipped;
  for (auto between = position_ + 1; between < row && this->row(between, skipped); ++between) position_ = between;
  return {.first = row, .count = 1, .step = 1};
}

void Cursor::require_scroll() const {
  if (!declaration_.scrolls)
    throw CodedError(kNotInState, ErrorKind::Value, "cursor \"" + declaration_.name + "\" only goes forward",
                     "DECLARE it with SCROLL");
}

std::int64_t Cursor::last_row() {
  keep_rest();
  return read_;
}

// ---- Rows ----------------------------------------------------------------------------------------------------------

/// The next row of the run, to which the position goes. After its last row the run is empty.
bool Cursor::next_of_run(Run& run, Row& row) {
  if (run.count == 0) return false;
  if (!this->row(run.first, row)) {
    position_ = run.first < 1 ? 0 : read_ + 1;
    run.count = 0;
    return false;
  }
  CHECK(run.count > 0, "a run counts the rows that are left of it");
  position_ = run.first;
  run.first += run.step;
  if (run.count != Fetch::kAll) --run.count;
  return true;
}

bool Cursor::row(std::int64_t number, Row& row) {
  if (number < 1) return false;
  DCHECK(number >= first_kept_ || kept_.empty(), "only a cursor that scrolls goes back");
  while (declaration_.scrolls && read_ < number) {
    if (!read(row)) return false;
    keep(std::move(row));
  }
  if (read_ < number && result_.rows == nullptr) return false;
  if (read_ < number) {
    DCHECK(number == read_ + 1, "a cursor that does not scroll reads one row after the other");
    first_kept_ = number + 1;
    return read(row);
  }
  if (number < first_kept_ || number - first_kept_ >= static_cast<std::int64_t>(kept_.size())) return false;
  if (declaration_.scrolls) {
    row = kept_[static_cast<std::size_t>(number - first_kept_)];
    return true;
  }
  row = std::move(kept_.front());
  kept_.pop_front();
  ++first_kept_;
  return true;
}

/// The next row of the query; at its end, the query is let go of.
bool Cursor::read(Row& row) {
  if (result_.rows == nullptr) return false;
  try {
    if (result_.rows->next(row)) {
      ++read_;
      return true;
    }
  } catch (...) {
    failed_ = true;
    result_ = {};
    throw;
  }
  result_ = {};
  return false;
}

void Cursor::keep(Row row) {
  CHECK(first_kept_ + static_cast<std::int64_t>(kept_.size()) == read_, "a row is kept behind the one before it");
  try {
    kept_.push_back(std::move(row));
  } catch (...) {  // without this row, those behind it would have other numbers
    failed_ = true;
    result_ = {};
    throw;
  }
  bytes_.add(row_bytes(kept_.back()));
}

}  // namespace eindb
