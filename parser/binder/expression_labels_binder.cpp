#include "common/error.hpp"
#include "parser/ast_children.hpp"
#include "parser/binder/expression_binder.hpp"

namespace eindb {
const Label* ExpressionBinder::label_named(const ast::Identifier& name) const {
  // A label of this definition hides a tensor of the same name; a label of another definition does not.
  const auto* label = labels_.find(name);
  if (label == nullptr || own_labels_.contains(*label)) return label;
  return tensors_.find(name) ? nullptr : label;
}

void ExpressionBinder::collect_free_labels(const ast::Expression& e, const Labels& visible, DistinctLabels& out) const {
  if (const auto* reference = std::get_if<ast::Reference>(&e.node)) {
    std::size_t ranges = 0;
    for (const auto& term : reference->terms) {
      if (const auto* label = std::get_if<ast::Identifier>(&term.value)) out.add(*labels_.find(*label));
      if (std::holds_alternative<ast::IndexRange>(term.value)) out.add(*labels_.find(range_label(ranges++, term.span)));
      if (const auto* merged = std::get_if<ast::MergedIndex>(&term.value))
        for (const auto& dimension : merged->labels)
          if (const auto* label = labels_.find(dimension.label)) out.add(*label);
    }
    for_each_child(e, [&](const ast::Expression& child) { collect_free_labels(child, visible, out); });
  } else if (const auto* name = std::get_if<ast::Name>(&e.node)) {
    if (const auto* label = label_named(name->name)) out.add(*label);
  } else if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node)) {
    DistinctLabels inside;
    collect_free_labels(aggregate->argument.front(), visible, inside);
    if (keeps_label(*aggregate) || joins_arguments(aggregate->op))
      for (const auto& other : aggregate->second) collect_free_labels(other, visible, inside);
    if (keeps_label(*aggregate)) return out.add(inside.labels());
    if (joins_arguments(aggregate->op)) {
      Labels own;
      for (const auto& part : aggregate->own)
        if (const auto* label = part ? labels_.find(*part) : nullptr) own.push_back(*label);
      out.add(difference(inside.labels(), own));
      if (aggregate->labels) out.add(named_labels(*aggregate->labels));
      return;
    }
    if (is_numbered(aggregate->op) && aggregate->labels) {
      const auto named = named_labels(*aggregate->labels);
      if (!named.empty()) out.add(difference(inside.labels(), {named.front()}));
      if (named.size() > 1) out.add(named[1]);
      return;
    }
    const auto over = aggregate->labels ? named_labels(*aggregate->labels) : difference(inside.labels(), visible);
    out.add(difference(inside.labels(), over));
  } else if (const auto* call = std::get_if<ast::Call>(&e.node);
             call != nullptr && find_generator(call->function.text)) {
    out.add(visible);
  } else {
    for_each_child(e, [&](const ast::Expression& child) { collect_free_labels(child, visible, out); });
  }
}

Labels ExpressionBinder::aggregated_labels(const ast::Aggregate& e, const Labels& visible) const {
  if (e.labels) return named_labels(*e.labels);
  DistinctLabels inside;
  collect_free_labels(e.argument.front(), visible, inside);
  return difference(inside.labels(), visible);
}

Labels ExpressionBinder::named_labels(const std::vector<ast::Dimension>& dimensions) const {
  DistinctLabels out;
  for (const auto& dimension : dimensions) {
    const auto& name = dimension.label;
    const auto* label = labels_.find(name);
    if (label == nullptr) {
      throw Error(ErrorKind::Label, "label " + name.text + " occurs nowhere in this statement", name.span,
                  "aggregate over a label of a reference");
    }
    if (!out.add(*label)) throw Error(ErrorKind::Label, "label " + name.text + " is given twice", name.span);
  }
  return out.labels();
}

Labels ExpressionBinder::free_labels(const ScalarExpression& lowered_body, const Draft& draft) {
  DistinctLabels free;
  for (const auto& labels : draft.labels) free.add(labels);
  free.add(index_labels_of(lowered_body));
  return free.labels();
}

void ExpressionBinder::require_in_head(const ast::Expression& e, const Labels& used) const {
  const auto missing = difference(used, head_);
  if (missing.empty()) return;
  const auto& name = graph_.labels().name(missing.front());
  const auto head = graph_.labels().join_names(head_);
  if (name.starts_with(':')) {
    throw Error(ErrorKind::Label,
                "a range stands for a label that is neither in the head of " + name_ + " nor aggregated",
                find_label(e, missing.front()),
                "ranges stand for labels of the head that nothing else has, in their order: Z[i,j] = X[0:10,:]");
  }
  throw Error(ErrorKind::Label, "label " + name + " is neither in the head of " + name_ + " nor aggregated",
              find_label(e, missing.front()),
              "aggregate it, as in SUM[" + name + "](...), or add it to the head: " + name_ + "[" + head +
                  (head.empty() ? "" : ",") + name + "]");
}

SourceSpan ExpressionBinder::find_label(const ast::Expression& e, Label label) const {
  const auto is = [&](const ast::Identifier& name) {
    const auto* found = labels_.find(name);
    return found != nullptr && *found == label;
  };
  if (const auto* reference = std::get_if<ast::Reference>(&e.node)) {
    std::size_t ranges = 0;
    for (const auto& term : reference->terms) {
      if (const auto* name = std::get_if<ast::Identifier>(&term.value); name != nullptr && is(*name)) return term.span;
      if (std::holds_alternative<ast::IndexRange>(term.value) && is(range_label(ranges++, term.span))) return term.span;
      if (const auto* merged = std::get_if<ast::MergedIndex>(&term.value))
        for (const auto& dimension : merged->labels)
          if (is(dimension.label)) return dimension.span;
    }
  }
  if (const auto* used = std::get_if<ast::Name>(&e.node); used != nullptr && is(used->name)) return e.span;
  SourceSpan found = e.span;
  for_each_child(e, [&](const ast::Expression& child) {
    if (found != e.span) return;
    const auto inside = find_label(child, label);
    if (inside != child.span || std::holds_alternative<ast::Name>(child.node)) found = inside;
  });
  return found;
}

}  // namespace eindb
