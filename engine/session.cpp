#include "engine/session.hpp"

#include <new>
#include <set>

#include "common/error.hpp"
#include "engine/session_state.hpp"
#include "engine/statements.hpp"
#include "parser/parser.hpp"

namespace eindb {

class Session::Impl {
 public:
  Impl(const std::string& database, SessionOptions options) : state(database, options) {}

  SessionState state;
};

Session::Session(const std::string& database, SessionOptions options)
    : impl_(std::make_unique<Impl>(database, options)) {}
Session::~Session() = default;

Result Session::execute(std::string_view statement) {
  auto& state = impl_->state;
  state.cancellation.reset(std::chrono::milliseconds(state.settings.statement_timeout_ms()));
  // What is no Error yet becomes one here: front ends see nothing else.
  try {
    const auto parsed = parse_statement(statement);
    return std::visit([&](const auto& node) { return execute_statement(node, state); }, parsed.node);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::MemoryLimit, "the machine has no memory left for this statement", std::nullopt,
                "lower memory_limit, so that less is tried");
  } catch (const std::exception& error) {
    throw Error(ErrorKind::Internal, error.what(), std::nullopt, "this is a bug in eindb; the database is unchanged");
  }
}

void Session::cancel() noexcept { impl_->state.cancellation.request(); }

void Session::on_progress(ProgressCallback callback) { impl_->state.progress = std::move(callback); }

std::vector<std::string> Session::tensor_names() { return impl_->state.catalog.names(); }

std::vector<std::string> Session::known_words() {
  auto& state = impl_->state;
  std::set<std::string> words;
  for (const auto& name : state.catalog.names()) {
    words.insert(name);
    const auto labels = state.catalog.get(name).labels;
    words.insert(labels.begin(), labels.end());
  }
  for (const auto& macro : state.macros.list()) words.insert(macro.name);
  for (const auto& macro : builtin_macro_names()) words.insert(macro);
  for (const auto& setting : state.settings.show_all()) words.insert(setting.name);
  auto tables = state.database.connection().prepare(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'eindb\\_%' ESCAPE '\\'");
  while (tables.step()) words.insert(tables.text(0));
  return {words.begin(), words.end()};
}

}  // namespace eindb
