#include "tensor/scan_form.hpp"

#include <algorithm>

#include "tensor/access_form.hpp"
#include "tensor/block_form.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tensor/scalar_types.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

bool is_initial_value(const ScalarPtr& e, const UserAggregate& user, DType compute) {
  if (!operands_of(*e).empty() || !index_labels_of(*e).empty()) return false;
  const auto wanted = initial_value(user, compute);
  const auto found = value_of(*with_types(e, {}, LabelTable(), compute), {}).in(compute);
  return wanted.visit([&](auto value) {
    const auto other = found.as<decltype(value)>();
    return value == other || (value != value && other != other);
  });
}

bool is_value_of_nothing(const ScalarPtr& otherwise, const EinSum& einsum, DType compute) {
  if (einsum.user != nullptr) return is_initial_value(otherwise, *einsum.user, compute);
  const auto& e = *otherwise;
  const auto aggregate = einsum.aggregate;
  if (!e.is_constant()) return false;
  if (compute == DType::Int64)
    return e.kind() == Kind::Integer && e.integer_value() == identity_of<std::int64_t>(aggregate);
  return e.real_value() == identity_of<double>(aggregate);
}

}  // namespace

std::optional<ScanForm> scan_form(const EinSum& einsum, DType compute) {
  using enum Aggregate;
  const auto aggregate = einsum.aggregate;
  const bool is_ordered = aggregate == Min || aggregate == Max || aggregate == LogSumExp;
  const bool is_associative = einsum.user != nullptr && einsum.user->associative;
  if (aggregate != Sum && aggregate != Prod && !is_ordered && !is_associative) return std::nullopt;
  if (is_complex(compute) && is_ordered) return std::nullopt;
  if (compute == DType::Int64 && aggregate == LogSumExp) return std::nullopt;
  if (einsum.inputs.size() != 1 || einsum.aggregated.size() != 1 || !einsum.expression->is_call(ScalarOp::Case))
    return std::nullopt;
  const auto& arguments = einsum.expression->arguments();
  if (arguments.size() != 3 || arguments[1]->kind() != Kind::Operand ||
      !is_value_of_nothing(arguments[2], einsum, compute))
    return std::nullopt;

  const auto* condition = arguments[0].get();
  while (condition->kind() == Kind::Call && converts_to(condition->op())) condition = condition->arguments()[0].get();
  if (condition->kind() != Kind::Call || condition->arguments().size() != 2) return std::nullopt;
  const auto& left = *condition->arguments()[0];
  const auto& right = *condition->arguments()[1];
  if (left.kind() != Kind::LabelIndex || right.kind() != Kind::LabelIndex) return std::nullopt;
  ScanForm form{.along = left.label(), .upto = right.label()};
  switch (condition->op()) {
    case ScalarOp::LessEqual: break;
    case ScalarOp::Less: form.inclusive = false; break;
    case ScalarOp::GreaterEqual: form.forward = false; break;
    case ScalarOp::Greater: form.forward = form.inclusive = false; break;
    default: return std::nullopt;
  }
  if (form.along != einsum.aggregated.front()) {
    std::swap(form.along, form.upto);
    form.forward = !form.forward;
  }
  const auto& source = einsum.inputs.front();
  if (form.along != einsum.aggregated.front() || !contains(einsum.output, form.upto)) return std::nullopt;
  if (std::count(source.begin(), source.end(), form.along) != 1 || contains(source, form.upto)) return std::nullopt;
  return form;
}

Labels uncut_labels(const EinSum& einsum, DType compute) {
  Labels labels;
  for (const auto label : einsum.labels())
    if (is_whole(einsum, label)) labels.push_back(label);
  if (einsum.block || einsum.expression == nullptr) return labels;
  if (const auto scan = scan_form(einsum, compute)) append_distinct(labels, {scan->along, scan->upto});
  return labels;
}

Labels skipped_labels(const EinSum& einsum, DType compute) {
  Labels labels;
  if (einsum.block) {
    for (const auto label : einsum.labels())
      if (is_whole(einsum, label)) labels.push_back(label);
    return labels;
  }
  if (const auto access = access_form(einsum))
    for (const auto& determined : access->determined) labels.push_back(determined.label);
  else if (const auto scan = scan_form(einsum, compute)) labels.push_back(scan->along);
  return labels;
}

}  // namespace eindb
