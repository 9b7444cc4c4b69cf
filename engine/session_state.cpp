#include "engine/session_state.hpp"

#include "common/error.hpp"

namespace eindb {

SessionState::SessionState(const std::string& path, SessionOptions options)
    : database(path, options.read_only ? DatabaseFile::Access::ReadOnly : DatabaseFile::Access::ReadWrite),
      catalog(database.connection()) {
  database.connection().watch(&cancellation);
}

Scheduler& SessionState::scheduler() {
  if (scheduler_ == nullptr || scheduler_->threads() != settings.threads())
    scheduler_ = std::make_unique<Scheduler>(settings.threads());
  return *scheduler_;
}

void SessionState::report(std::string_view stage, std::int64_t done, std::int64_t total) const {
  if (progress && settings.progress()) progress(Progress{.stage = stage, .done = done, .total = total});
}

TensorInfo SessionState::tensor(const ast::Identifier& name) {
  return with_place(name.span, [&] { return catalog.get(name.text); });
}

NameSource SessionState::name_source() {
  return {.find_tensor = [this](const std::string& name) -> std::optional<InputTensor> {
            auto found = catalog.find(name);
            if (!found) return std::nullopt;
            return InputTensor{.name = found->name, .dtype = found->dtype, .grid = found->grid};
          },
          .tensor_names = [this] { return catalog.names(); }};
}

}  // namespace eindb
