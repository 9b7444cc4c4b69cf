#include "engine/session.hpp"

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
  const auto parsed = parse_statement(statement);
  return std::visit([&](const auto& node) { return execute_statement(node, state); }, parsed.node);
}

void Session::cancel() noexcept { impl_->state.cancellation.request(); }

void Session::on_progress(ProgressCallback callback) { impl_->state.progress = std::move(callback); }

std::vector<std::string> Session::tensor_names() { return impl_->state.catalog.names(); }

}  // namespace eindb
