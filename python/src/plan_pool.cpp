#include "python/src/plan_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "python/src/signals.hpp"

namespace eindb_python {
namespace {

constexpr std::size_t kPlans = 128;
constexpr std::size_t kPlansOfEngine = 256;
constexpr std::int64_t kStagedBytes = 64 << 10;
constexpr std::size_t kAlignment = 64;

template <class T>
void append(std::string& key, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  key.append(bytes, sizeof(T));
}

void append_labels(std::string& key, const std::vector<std::uint32_t>& labels) {
  append(key, static_cast<std::uint32_t>(labels.size()));
  for (const auto label : labels) append(key, label);
}

// The key of a prepared statement: labels, extents and types of the operands, the output and the path.
std::string key_of(const Contraction& contraction) {
  std::string key;
  key.reserve(128);
  append(key, static_cast<std::uint32_t>(contraction.extents.size()));
  for (const auto extent : contraction.extents) append(key, extent);
  for (const auto& operand : contraction.operands) {
    key += static_cast<char>(operand.type);
    append_labels(key, operand.labels);
  }
  append_labels(key, contraction.output);
  return key += contraction.path;
}

std::string term_of(const std::vector<std::uint32_t>& labels) {
  std::string term = "[";
  for (const auto label : labels) term += (term.size() > 1 ? ",a" : "a") + std::to_string(label);
  return term + "]";
}

template <class Inputs>
std::string statement_text(const Contraction& contraction, const Inputs& inputs) {
  std::string terms;
  std::string names;
  for (std::size_t n = 0; n < contraction.operands.size(); ++n) {
    terms += (n > 0 ? "," : "") + term_of(contraction.operands[n].labels);
    names += (n > 0 ? ", " : "") + inputs[n].name;
  }
  return "EINSUM '" + terms + "->" + term_of(contraction.output) + "' (" + names + ")" + contraction.path;
}

// The operand where it lies.
eindb::TensorView view_of(const Operand& operand, const Contraction& contraction) {
  eindb::TensorView view{operand.type, nullptr, {}, {}, {}};
  const auto size = static_cast<std::int64_t>(size_of(operand.type));
  for (std::size_t d = 0; d < operand.labels.size(); ++d) {
    view.extents.push_back(contraction.extents[operand.labels[d]]);
    view.strides.push_back(operand.strides[d] / size);
  }
  return view;
}

// The bytes of a view if it is small enough to be copied, else -1.
std::int64_t staged_size(const eindb::TensorView& view) {
  auto bytes = static_cast<std::int64_t>(size_of(view.type));
  for (const auto extent : view.extents) {
    if (extent > kStagedBytes) return -1;
    bytes *= extent;
    if (bytes > kStagedBytes) return -1;
  }
  return bytes;
}

// Copies the elements from dimension `d` on to `target`, row-major; returns the end of what was written.
std::byte* gather(const eindb::TensorView& view, std::size_t d, const std::byte* from, std::byte* target) {
  const auto size = static_cast<std::int64_t>(size_of(view.type));
  if (d == view.extents.size()) {
    std::memcpy(target, from, static_cast<std::size_t>(size));
    return target + size;
  }
  const auto extent = view.extents[d];
  const bool innermost = d + 1 == view.extents.size();
  if (innermost && view.strides[d] == 1) {
    std::memcpy(target, from, static_cast<std::size_t>(extent * size));
    return target + extent * size;
  }
  const auto step = view.strides[d] * size;
  for (std::int64_t n = 0; n < extent; ++n, from += step) {
    if (innermost && size == sizeof(double)) {
      std::memcpy(target, from, sizeof(double));
      target += sizeof(double);
    } else {
      target = gather(view, d + 1, from, target);
    }
  }
  return target;
}

eindb::TensorView row_major(const eindb::TensorView& view, const std::byte* data) {
  eindb::TensorView dense{view.type, data, view.extents, std::vector<std::int64_t>(view.extents.size()), {}};
  std::int64_t stride = 1;
  for (std::size_t d = view.extents.size(); d-- > 0; stride *= view.extents[d]) dense.strides[d] = stride;
  return dense;
}

std::byte* aligned(std::vector<std::byte>& room) {
  const auto address = reinterpret_cast<std::uintptr_t>(room.data());
  return room.data() + (kAlignment - address % kAlignment) % kAlignment;
}

// Never destroyed: threads may compute while the process ends.
PlanPool** pool() {
  static auto* known = new PlanPool();
  return &known;
}

}  // namespace

std::size_t size_of(eindb::ElementType type) {
  switch (type) {
    case eindb::ElementType::Float32: return sizeof(float);
    case eindb::ElementType::Complex128: return sizeof(std::complex<double>);
    case eindb::ElementType::Float64:
    case eindb::ElementType::Complex64:
    case eindb::ElementType::Int64: break;
  }
  return sizeof(double);
}

PlanWorker::PlanWorker() : connection_(":memory:") {
  connection_.execute("SET plan_cache_size = " + std::to_string(kPlansOfEngine));
  watch_interrupts(connection_);
}

eindb::TensorResult PlanWorker::run(const Contraction& contraction, std::span<const void* const> data) {
  auto& plan = plan_of(contraction);
  for (std::size_t n = 0; n < plan.inputs.size(); ++n) {
    auto& input = plan.inputs[n];
    look_at(contraction.operands[n], contraction, input);
    input.view.data = data[n];
    if (input.staged_bytes < 0) {
      attach(input, input.view);
      continue;
    }
    if (input.staged.empty()) input.staged.resize(static_cast<std::size_t>(input.staged_bytes) + kAlignment);
    auto* target = aligned(input.staged);
    const auto* from = static_cast<const std::byte*>(data[n]);
    if (input.is_row_major) std::copy_n(from, input.staged_bytes, target);
    else if (input.staged_bytes > 0) gather(input.view, 0, from, target);
    if (!input.is_attached) attach(input, row_major(input.view, target));
  }
  return plan.statement.execute().tensor();
}

// Strides are most often those of the last call; the extents are those of the plan.
void PlanWorker::look_at(const Operand& operand, const Contraction& contraction, Input& input) {
  if (!input.strides.empty() && input.strides == operand.strides) return;
  input.view = view_of(operand, contraction);
  input.strides = operand.strides;
  input.staged_bytes = staged_size(input.view);
  input.is_row_major = input.staged_bytes > 0 && input.view.strides == row_major(input.view, nullptr).strides;
}

PlanWorker::Plan& PlanWorker::plan_of(const Contraction& contraction) {
  auto key = key_of(contraction);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    plans_.splice(plans_.begin(), plans_, found->second);
    return plans_.front();
  }
  plans_.push_front(made(contraction, std::move(key)));
  by_key_.emplace(plans_.front().key, plans_.begin());
  if (plans_.size() > kPlans) {
    forget(plans_.back());
    by_key_.erase(plans_.back().key);
    plans_.pop_back();
  }
  return plans_.front();
}

// To put a tensor in the place of another is quicker than to attach one under a name that must be shown to be free.
PlanWorker::Plan PlanWorker::made(const Contraction& contraction, std::string key) {
  std::vector<Input> inputs(contraction.operands.size());
  const auto spare = std::min(inputs.size(), spare_names_.size());
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    inputs[n].is_named = n < spare;
    inputs[n].name = n < spare ? spare_names_[spare_names_.size() - 1 - n] : "t" + std::to_string(names_++);
  }
  auto statement = connection_.prepare(statement_text(contraction, inputs));
  spare_names_.resize(spare_names_.size() - spare);
  return {std::move(key), std::move(inputs), std::move(statement)};
}

void PlanWorker::attach(Input& input, const eindb::TensorView& view) {
  if (input.is_attached && input.attached.data == view.data && input.attached.strides == view.strides) return;
  input.is_attached = false;
  if (input.is_named) replace(input, view);
  else connection_.attach(input.name, view);
  input.attached = view;
  input.is_named = true;
  input.is_attached = true;
}

// Nothing is attached if that fails.
void PlanWorker::replace(Input& input, const eindb::TensorView& view) {
  try {
    connection_.replace(input.name, view);
  } catch (...) {
    input.is_named = false;
    try {
      connection_.detach(input.name);
    } catch (const eindb::Exception&) {  // nothing is
    }
    throw;
  }
}

void PlanWorker::forget(Plan& plan) {
  for (auto& input : plan.inputs)
    if (input.is_named) spare_names_.push_back(std::move(input.name));
}

std::unique_ptr<PlanWorker> PlanPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto worker = std::move(free_.back());
      free_.pop_back();
      return worker;
    }
  }
  return std::make_unique<PlanWorker>();
}

void PlanPool::give_back(std::unique_ptr<PlanWorker> worker) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(worker));
}

PlanPool& plan_pool() { return **pool(); }

void renew_plan_pool() { *pool() = new PlanPool(); }

}  // namespace eindb_python
