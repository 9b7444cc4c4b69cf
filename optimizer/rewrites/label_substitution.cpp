#include "optimizer/rewrites/label_substitution.hpp"

namespace eindb {
namespace {

// Replaces the leaves; a call is rebuilt only if an argument changed.
ScalarPtr replace_leaves(const ScalarPtr& e, const std::function<ScalarPtr(const ScalarPtr&)>& replace) {
  if (e->kind() != ScalarExpression::Kind::Call) return replace(e);
  std::vector<ScalarPtr> arguments;
  arguments.reserve(e->arguments().size());
  bool changed = false;
  for (const auto& argument : e->arguments()) {
    arguments.push_back(replace_leaves(argument, replace));
    changed = changed || arguments.back() != argument;
  }
  return changed ? ScalarExpression::call(e->op(), std::move(arguments)) : e;
}

}  // namespace

Labels rename_labels(const Labels& labels, const LabelRenaming& to) {
  Labels out;
  out.reserve(labels.size());
  for (const auto label : labels) out.push_back(to(label));
  return out;
}

ScalarPtr rename_labels(const ScalarPtr& e, const LabelRenaming& to) {
  return replace_leaves(e, [&](const ScalarPtr& leaf) {
    if (leaf->kind() == ScalarExpression::Kind::LabelIndex)
      return ScalarExpression::with_type(ScalarExpression::label_index(to(leaf->label())), leaf->type());
    if (leaf->kind() == ScalarExpression::Kind::Uniform || leaf->kind() == ScalarExpression::Kind::Normal)
      return ScalarExpression::with_type(
          ScalarExpression::random(leaf->kind(), leaf->seed(), rename_labels(leaf->cell(), to)), leaf->type());
    return leaf;
  });
}

ScalarPtr replace_label_values(const ScalarPtr& e, const LabelValue& value) {
  return replace_leaves(e, [&](const ScalarPtr& leaf) {
    return leaf->kind() == ScalarExpression::Kind::LabelIndex
               ? ScalarExpression::with_type(value(leaf->label()), leaf->type())
               : leaf;
  });
}

Labels random_labels_of(const ScalarExpression& e) {
  Labels out;
  if (e.kind() == ScalarExpression::Kind::Uniform || e.kind() == ScalarExpression::Kind::Normal)
    append_distinct(out, e.cell());
  for (const auto& argument : e.arguments()) append_distinct(out, random_labels_of(*argument));
  return out;
}

}  // namespace eindb
