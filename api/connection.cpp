#include "api/arrow_input.hpp"
#include "api/element_types.hpp"
#include "api/query_result.hpp"
#include "api/statement.hpp"
#include "api/translation.hpp"
#include "engine/script.hpp"

namespace eindb {

struct Connection::Impl {
  SharedSession session;
};

Connection::Connection(const std::string& path, ConnectionOptions options) : impl_(std::make_unique<Impl>()) {
  translated("",
             [&] { impl_->session = std::make_shared<Session>(path, SessionOptions{.read_only = options.read_only}); });
}
Connection::~Connection() = default;
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

QueryResult Connection::execute(std::string_view statement) {
  auto result = translated(statement, [&] { return impl_->session->execute(statement); });
  return query_result(impl_->session, std::string(statement), 0, std::move(result));
}

QueryResult Connection::execute_script(std::string_view script) {
  Result last;
  std::size_t offset = 0;
  for (const auto& statement : split_statements(script)) {
    last = {};  // releases results that nobody reads
    offset = statement.offset;
    last = translated(
        script, [&] { return impl_->session->execute(statement.text); }, offset);
  }
  return query_result(impl_->session, std::string(script), offset, std::move(last));
}

Statement Connection::prepare(std::string_view text) {
  auto prepared = translated(text, [&] { return impl_->session->prepare(text); });
  return statement(impl_->session, std::move(prepared));
}

bool Connection::in_transaction() const { return impl_->session->in_transaction(); }

void Connection::attach(const std::string& name, const TensorView& tensor) {
  translated("", [&] { impl_->session->attach(name, memory_tensor(tensor)); });
}

void Connection::attach(const std::string& name, const CellsView& tensor) {
  translated("", [&] { impl_->session->attach(name, memory_tensor(tensor)); });
}

void Connection::replace(const std::string& name, const CellsView& tensor) {
  translated("", [&] { impl_->session->replace(name, memory_tensor(tensor)); });
}

void Connection::replace(const std::string& name, const TensorView& tensor) {
  translated("", [&] { impl_->session->replace(name, memory_tensor(tensor)); });
}

void Connection::detach(const std::string& name) {
  translated("", [&] { impl_->session->detach(name); });
}

std::int64_t Connection::load(const std::string& name, ArrowInput rows) {
  return translated("", [&] { return load_rows_of(rows.impl_->batches, name, *impl_->session); });
}

void Connection::cancel() noexcept { impl_->session->cancel(); }

void Connection::on_progress(std::function<void(const ProgressInfo&)> callback) {
  if (!callback) {
    impl_->session->on_progress({});
    return;
  }
  impl_->session->on_progress([callback = std::move(callback)](const Progress& progress) {
    callback({.stage = progress.stage, .done = progress.done, .total = progress.total});
  });
}

std::vector<std::string> Connection::tensor_names() {
  return translated("", [&] { return impl_->session->tensor_names(); });
}

}  // namespace eindb
