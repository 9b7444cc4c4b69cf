#include "engine/sql/compiled_sql.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/check.hpp"
#include "parser/statement_outline.hpp"
#include "parser/token_value.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMostStatements = 100;
/// The limit for all statements of a session, in bytes, and the divisor for the part of it that one statement may take.
constexpr std::size_t kMostBytes = std::size_t{2} << 20U;
constexpr std::size_t kMostShare = 4;

/// Returns 3 for "$3", and nothing for a parameter of another form.
std::optional<std::size_t> number_in_name(std::string_view name) {
  const auto number = parameter_number(name);
  return number == 0 ? std::nullopt : std::optional(number);
}

}  // namespace

void CompiledStatements::GiveBack::operator()(CompiledSql* compiled) const noexcept {
  std::unique_ptr<CompiledSql> back(compiled);
  if (home_ == nullptr || generation_ != home_->generation_) return;
  try {
    home_->keep(std::move(back));
  } catch (...) {
    home_->clear();  // not kept, for lack of memory
  }
}

bool CompiledStatements::bring_to(const Version& version) {
  if (std::exchange(version_, version) == version) return false;
  clear();
  return true;
}

void CompiledStatements::clear() noexcept {
  ++generation_;
  by_text_.clear();
  kept_.clear();
  bytes_ = 0;
}

CompiledStatements::Lent CompiledStatements::take(std::string_view text) {
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return {};
  const auto place = found->second;
  CHECK(bytes_ >= (*place)->bytes, "the bytes of what is kept are counted");
  DCHECK(kept_.size() == by_text_.size(), "every statement that is kept is found by its text");
  by_text_.erase(found);
  bytes_ -= (*place)->bytes;
  Lent lent(place->release(), GiveBack(*this, generation_));
  kept_.erase(place);
  return lent;
}

// The same text may be compiled twice, if rows of the first run are still read during the second. The statement that
// returns first is kept.
void CompiledStatements::keep(std::unique_ptr<CompiledSql> compiled) {
  compiled->statement.reset();
  compiled->statement.clear_bindings();
  const auto bytes = compiled->bytes;
  if (bytes > kMostBytes / kMostShare || by_text_.contains(compiled->text)) return;
  kept_.push_front(std::move(compiled));
  by_text_.emplace(kept_.front()->text, kept_.begin());
  bytes_ += bytes;
  while (kept_.size() > kMostStatements || bytes_ > kMostBytes) drop_oldest();
}

void CompiledStatements::drop_oldest() {
  bytes_ -= kept_.back()->bytes;
  by_text_.erase(kept_.back()->text);
  kept_.pop_back();
}

CompiledSql compiled_sql(std::string text, SqliteStatement statement) {
  CompiledSql compiled{.text = std::move(text), .statement = std::move(statement)};
  for (int n = 1; n <= compiled.statement.parameter_count(); ++n)
    compiled.parameters.push_back(number_in_name(compiled.statement.parameter_name(n)));
  compiled.bytes = sizeof compiled + compiled.text.size() + compiled.statement.memory_used();
  return compiled;
}

bool may_be_kept(std::string_view sql) {
  constexpr std::array kKinds{StatementKind::Select, StatementKind::Insert, StatementKind::Update,
                              StatementKind::Delete};
  return std::find(kKinds.begin(), kKinds.end(), outline_of(sql).kind) != kKinds.end();
}

}  // namespace eindb
