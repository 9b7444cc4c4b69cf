#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "parser/ast_children.hpp"
#include "parser/binder/expression_binder.hpp"
#include "plan/selection.hpp"
#include "tensor/access_form.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

ScalarPtr applied(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}
ScalarPtr whole(std::int64_t value) { return ScalarExpression::integer(value); }

// index with 0 <= index < extent
ScalarPtr is_inside(const ScalarPtr& index, std::int64_t extent) {
  return applied(ScalarOp::And,
                 {applied(ScalarOp::GreaterEqual, {index, whole(0)}), applied(ScalarOp::Less, {index, whole(extent)})});
}

// The nearest index inside, or that of the cell that the padding reads instead; `extent` is positive.
ScalarPtr padded_index(ast::Padding::Kind kind, const ScalarPtr& index, std::int64_t extent) {
  switch (kind) {
    case ast::Padding::Kind::Wrap: return applied(ScalarOp::Modulo, {index, whole(extent)});
    case ast::Padding::Kind::Reflect: {
      if (extent == 1) return whole(0);
      const auto period = whole(checked_multiply(2, extent - 1));
      const auto in_period = applied(ScalarOp::Modulo, {index, period});
      return applied(ScalarOp::Least, {in_period, applied(ScalarOp::Subtract, {period, in_period})});
    }
    case ast::Padding::Kind::Edge:
    case ast::Padding::Kind::Value: break;
  }
  return applied(ScalarOp::Least, {applied(ScalarOp::Greatest, {index, whole(0)}), whole(extent - 1)});
}

// Whether cells outside have a value other than the zero that an access gives them.
bool has_filler(const ast::Reference& e) {
  if (!e.padding || e.padding->kind != ast::Padding::Kind::Value) return false;
  const auto* integer = std::get_if<ast::Integer>(&e.padding->value.front().node);
  return integer == nullptr || integer->value != 0;
}

void collect_names(const ast::Expression& e, std::set<std::string>& out) {
  if (const auto* name = std::get_if<ast::Name>(&e.node)) out.insert(name->name.text);
  if (const auto* reference = std::get_if<ast::Reference>(&e.node)) {
    for (const auto& term : reference->terms)
      if (const auto* label = std::get_if<ast::Identifier>(&term.value)) out.insert(label->text);
    for (const auto& term : reference->terms)
      if (const auto* merged = std::get_if<ast::MergedIndex>(&term.value))
        for (const auto& dimension : merged->labels) out.insert(dimension.label.text);
  }
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node); aggregate != nullptr && aggregate->labels) {
    for (const auto& dimension : *aggregate->labels) out.insert(dimension.label.text);
  }
  for_each_child(e, [&](const ast::Expression& child) { collect_names(child, out); });
}

}  // namespace

// ---- The labels of computed indices and ranges ---------------------------------------------------------------------

// The n-th range of every reference has the n-th label of the head that nothing else binds, as axes are matched in
// NumPy; a further one has a label without a name.
void ExpressionBinder::name_ranges(const ast::Expression& e, const std::vector<ast::Dimension>& head) {
  std::set<std::string> used;
  collect_names(e, used);
  for (const auto& dimension : head) head_names_.insert(dimension.label.text);
  for (const auto& dimension : head)
    if (used.insert(dimension.label.text).second) range_labels_.push_back(dimension.label);
}

ast::Identifier ExpressionBinder::range_label(std::size_t number, SourceSpan span) const {
  if (number < range_labels_.size()) {
    auto label = range_labels_[number];
    label.span = span;
    return label;
  }
  return {.text = ":" + std::to_string(number + 1), .span = span, .quoted = true, .scope = scope_};
}

std::int64_t ExpressionBinder::range_number(const ast::Extent& number) const {
  if (const auto* integer = std::get_if<ast::Integer>(&number.value)) return integer->value;
  return parameters_.integer(std::get<ast::Parameter>(number.value), number.span);
}

std::int64_t ExpressionBinder::extent_of(const ast::Extent& extent) const {
  const auto value = range_number(extent);
  if (value < 0) throw Error(ErrorKind::Shape, "an extent cannot be " + std::to_string(value), extent.span);
  return value;
}

ExpressionBinder::Range ExpressionBinder::range_of(const ast::IndexRange& range, SourceSpan span, std::int64_t extent,
                                                   const std::string& place) const {
  const auto step = range.step ? range_number(*range.step) : 1;
  if (step == 0) throw Error(ErrorKind::Value, "the step of a range cannot be 0", span);
  const auto bound = [&](const std::optional<ast::Extent>& given, std::int64_t otherwise) {
    if (!given) return otherwise;
    const auto value = range_number(*given);
    if (value < -extent || value > extent) {
      throw Error(ErrorKind::Value,
                  "the range has " + std::to_string(value) + ", but " + place + " has extent " + std::to_string(extent),
                  given->span, "a number left out is the end of the dimension: 2: or :5");
    }
    return value < 0 ? value + extent : value;
  };
  const auto begin = bound(range.begin, step > 0 ? 0 : extent - 1);
  const auto end = bound(range.end, step > 0 ? extent : -1);
  const auto distance = step > 0 ? end - begin : begin - end;
  const auto stride = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  const auto count =
      distance <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / stride) + 1;
  if (count > 0 && begin >= extent)
    throw Error(ErrorKind::Value, "the range begins at the end of " + place, span, "the last index is -1");
  return {begin, count > 1 ? step : 1, count};
}

void ExpressionBinder::bind_labels(const ast::Expression& e, const std::vector<ast::Dimension>& head) {
  name_ranges(e, head);
  sweep_labels(e);
  infer_extents();
}

void ExpressionBinder::sweep_labels(const ast::Expression& e) {
  if (const auto* reference = std::get_if<ast::Reference>(&e.node))
    sweep_labels(*reference, graph_.vertex(tensors_.get(reference->name)).bound, e.span);
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node); aggregate != nullptr && aggregate->labels) {
    for (const auto& dimension : *aggregate->labels)
      if (dimension.extent)
        own_labels_.add(labels_.bind_at(dimension.label, extent_of(*dimension.extent), "an aggregate of " + name_));
  }
  for_each_child(e, [&](const ast::Expression& child) { sweep_labels(child); });
}

void ExpressionBinder::sweep_labels(const ast::Reference& reference, const Shape& bound, SourceSpan span) {
  const auto& name = reference.name.text;
  require_rank(bound, reference.terms.size(), name, span);
  std::size_t ranges = 0;
  for (std::size_t d = 0; d < reference.terms.size(); ++d) {
    const auto& term = reference.terms[d];
    if (const auto* label = std::get_if<ast::Identifier>(&term.value)) {
      own_labels_.add(labels_.bind(*label, bound[d], name, d));
    } else if (const auto* range = std::get_if<ast::IndexRange>(&term.value)) {
      const auto extent = range_of(*range, term.span, bound[d], dimension_of(name, d)).count;
      own_labels_.add(labels_.bind(range_label(ranges++, term.span), extent, name, d));
    } else if (const auto* computed = std::get_if<ast::ComputedIndex>(&term.value)) {
      if (!reference.padding) constraints_.push_back({&computed->index.front(), bound[d]});
    } else if (const auto* merged = std::get_if<ast::MergedIndex>(&term.value)) {
      for (const auto& dimension : merged->labels)
        if (dimension.extent)
          own_labels_.add(labels_.bind_at(dimension.label, extent_of(*dimension.extent), "the brackets of " + name));
      merged_.emplace_back(merged, bound[d]);
    }
  }
}

// Whether a bare name that is no label yet is that of a stored number. Labels of the head are labels.
bool ExpressionBinder::names_scalar(const ast::Identifier& name) const {
  if (name.scope == 0 && head_names_.contains(name.text)) return false;
  const auto tensor = tensors_.find(name);
  return tensor && graph_.vertex(*tensor).bound.rank() == 0;
}

// Adds factor * e; false if it is not affine.
bool ExpressionBinder::add_affine(const ast::Expression& e, std::int64_t factor, NamedAffine& sum) const {
  if (const auto* integer = std::get_if<ast::Integer>(&e.node)) {
    sum.offset = checked_add(sum.offset, checked_multiply(factor, integer->value));
    return true;
  }
  if (const auto* parameter = std::get_if<ast::Parameter>(&e.node)) {
    sum.offset = checked_add(sum.offset, checked_multiply(factor, parameters_.integer(*parameter, e.span)));
    return true;
  }
  if (const auto* name = std::get_if<ast::Name>(&e.node)) {
    if (label_named(name->name) == nullptr && names_scalar(name->name)) return false;
    const auto same = [&](const auto& entry) {
      return entry.first->text == name->name.text && entry.first->scope == name->name.scope;
    };
    const auto known = std::find_if(sum.coefficients.begin(), sum.coefficients.end(), same);
    if (known == sum.coefficients.end()) sum.coefficients.emplace_back(&name->name, factor);
    else known->second = checked_add(known->second, factor);
    return true;
  }
  if (const auto* prefix = std::get_if<ast::Prefix>(&e.node))
    return prefix->op == ast::PrefixOp::Negate &&
           add_affine(prefix->operand.front(), checked_multiply(-1, factor), sum);
  const auto* infix = std::get_if<ast::Infix>(&e.node);
  if (infix == nullptr) return false;
  const auto& operators = infix->operators;
  const bool is_product =
      std::all_of(operators.begin(), operators.end(), [](auto op) { return op == ast::InfixOp::Multiply; });
  if (is_product) return add_affine_product(*infix, factor, sum);
  for (std::size_t n = 0; n < infix->operands.size(); ++n) {
    const bool minus = n > 0 && operators[n - 1] == ast::InfixOp::Subtract;
    if (n > 0 && !minus && operators[n - 1] != ast::InfixOp::Add) return false;
    if (!add_affine(infix->operands[n], minus ? checked_multiply(-1, factor) : factor, sum)) return false;
  }
  return true;
}

// A product of which one factor at most has labels.
bool ExpressionBinder::add_affine_product(const ast::Infix& product, std::int64_t factor, NamedAffine& sum) const {
  const ast::Expression* with_labels = nullptr;
  for (const auto& operand : product.operands) {
    NamedAffine part;
    if (!add_affine(operand, 1, part)) return false;
    if (part.coefficients.empty()) factor = checked_multiply(factor, part.offset);
    else if (with_labels != nullptr) return false;
    else with_labels = &operand;
  }
  if (with_labels != nullptr) return add_affine(*with_labels, factor, sum);
  sum.offset = checked_add(sum.offset, factor);
  return true;
}

std::optional<ExpressionBinder::NamedAffine> ExpressionBinder::affine_of(const ast::Expression& e) const {
  return with_place(e.span, [&]() -> std::optional<NamedAffine> {
    NamedAffine affine;
    if (!add_affine(e, 1, affine)) return std::nullopt;
    std::erase_if(affine.coefficients, [](const auto& entry) { return entry.second == 0; });
    return affine;
  });
}

// The most indices of a label for which an affine index stays below `extent` and not below 0; nullopt if another of
// its labels has no extent yet.
std::optional<std::int64_t> ExpressionBinder::longest_range(const NamedAffine& affine, const ast::Identifier& wanted,
                                                            std::int64_t extent) const {
  std::int64_t least = affine.offset;
  std::int64_t most = affine.offset;
  std::int64_t step = 0;
  for (const auto& [name, coefficient] : affine.coefficients) {
    if (name->text == wanted.text && name->scope == wanted.scope) {
      step = coefficient;
      continue;
    }
    const auto* label = labels_.find(*name);
    if (label == nullptr) return std::nullopt;
    const auto last = checked_multiply(coefficient, std::max<std::int64_t>(graph_.labels().extent(*label), 1) - 1);
    (last < 0 ? least : most) = checked_add(last < 0 ? least : most, last);
  }
  const auto room = step > 0 ? checked_add(extent - 1, checked_multiply(-1, most)) : least;
  if (room < 0) return 0;
  const auto stride = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(room) / stride) + 1;
}

// The most indices of a label for which all affine indices that have it are inside. nullopt if none of those has all of
// its other labels bound, or, with `all`, if one of them has not.
std::optional<std::int64_t> ExpressionBinder::longest_range(const std::vector<AffineIndex>& indices,
                                                            const ast::Identifier& wanted, bool all) const {
  const auto is_wanted = [&](const auto& entry) {
    return entry.first->text == wanted.text && entry.first->scope == wanted.scope;
  };
  std::optional<std::int64_t> longest;
  for (const auto& index : indices) {
    const auto& coefficients = index.affine.coefficients;
    if (std::none_of(coefficients.begin(), coefficients.end(), is_wanted)) continue;
    const auto range = with_place(wanted.span, [&] { return longest_range(index.affine, wanted, index.extent); });
    if (!range && all) return std::nullopt;
    if (range) longest = std::min(longest.value_or(*range), *range);
  }
  return longest;
}

// Gives one label an extent that has none; false if that is known for none.
bool ExpressionBinder::infer_extent(const std::vector<AffineIndex>& indices, bool all) {
  for (const auto& index : indices) {
    for (const auto& entry : index.affine.coefficients) {
      if (labels_.find(*entry.first) != nullptr) continue;
      const auto longest = longest_range(indices, *entry.first, all);
      if (!longest) continue;
      const auto extent = std::max<std::int64_t>(*longest, 1);  // one index, whose place the error will tell
      own_labels_.add(labels_.bind_at(*entry.first, extent, "a computed index in " + name_));
      return true;
    }
  }
  return false;
}

// Of labels that number a dimension together, the only one without an extent has what remains.
void ExpressionBinder::infer_merged_extents() {
  for (const auto& [merged, extent] : merged_) {
    const ast::Identifier* open = nullptr;
    std::int64_t others = 1;
    bool is_known = true;
    for (const auto& dimension : merged->labels) {
      const auto* label = labels_.find(dimension.label);
      if (label != nullptr) {
        others = with_place(dimension.span, [&] { return checked_multiply(others, graph_.labels().extent(*label)); });
        own_labels_.add(*label);
      } else {
        is_known = is_known && open == nullptr;
        open = &dimension.label;
      }
    }
    if (open == nullptr || !is_known || others == 0) continue;
    if (extent % others != 0) {
      throw Error(ErrorKind::Shape,
                  "label " + open->text + " has no extent: " + std::to_string(extent) + " indices are no multiple of " +
                      std::to_string(others),
                  open->span, "the product of the extents is that of the dimension: X[(i, j 3), k]");
    }
    own_labels_.add(labels_.bind_at(*open, extent / others, "an index of labels in " + name_));
  }
}

// Labels that occur in computed indices alone have the most indices for which all of those are inside.
void ExpressionBinder::infer_extents() {
  infer_merged_extents();
  std::vector<AffineIndex> indices;
  for (const auto& constraint : constraints_)
    if (auto affine = affine_of(*constraint.index)) indices.push_back({*std::move(affine), constraint.extent});
  while (infer_extent(indices, true) || infer_extent(indices, false)) {
  }
  infer_merged_extents();
}

// ---- The vertex of an access ---------------------------------------------------------------------------------------

// An access while it is put together: the operands, and one equation for each computed index.
struct ExpressionBinder::Access {
  // A label of the tensor whose index a vertex of INT64 has, and the labels of that vertex.
  struct Gathered {
    Label determined;
    VertexId index;
    Labels over;
  };

  std::vector<VertexId> inputs;
  std::vector<Labels> labels;
  ScalarPtr condition;
  std::vector<Gathered> gathered;
  ScalarPtr inside;  // whether a cell of the tensor is read, and not a padding value; null if there is no such value
  DistinctLabels leading;
  DistinctLabels following;
};

ScalarPtr ExpressionBinder::lower_access(const ast::Reference& e, SourceSpan span, Draft& draft) {
  const auto& name = e.name.text;
  auto base = tensors_.get(e.name);
  const auto bound = graph_.vertex(base).bound;
  const auto [at, deferred] = held_indices(e, bound);
  if (std::any_of(at.begin(), at.end(), [](const auto& held) { return held.has_value(); }))
    base = selected(base, at, deferred);

  Access access;
  access.inputs = {base};
  access.labels = {{}};
  std::size_t ranges = 0;
  bool spread = false;  // an index of several labels has come
  for (std::size_t d = 0; d < e.terms.size(); ++d) {
    const auto& term = e.terms[d];
    if (at[d]) continue;
    if (const auto* plain = std::get_if<ast::Identifier>(&term.value)) {
      const auto label = *labels_.find(*plain);
      access.labels.front().push_back(label);
      (spread ? access.following : access.leading).add(label);
    } else if (const auto* range = std::get_if<ast::IndexRange>(&term.value)) {
      const auto bounds = range_of(*range, term.span, bound[d], dimension_of(name, d));
      const auto label = *labels_.find(range_label(ranges++, term.span));
      (spread ? access.following : access.leading).add(label);
      if (bounds.count == bound[d] && bounds.step == 1) {
        access.labels.front().push_back(label);
        continue;
      }
      access.labels.front().push_back(labels_.fresh(name + "." + std::to_string(d + 1), bound[d]));
      add_equation(access, access.labels.front().back(), affine_expression({{{label, bounds.step}}, bounds.begin}));
    } else if (const auto* merged = std::get_if<ast::MergedIndex>(&term.value)) {
      const auto index = merged_index(*merged, term.span, bound[d], dimension_of(name, d));
      add_labels_of_index(access, index, spread);
      access.labels.front().push_back(labels_.fresh(name + "." + std::to_string(d + 1), bound[d]));
      add_equation(access, access.labels.front().back(), affine_expression(index));
    } else {
      add_computed(access, e, d, bound[d], spread, draft);
    }
  }
  return finish_access(std::move(access), e, span, draft);
}

// i * (extent of j) + j for (i, j).
ExpressionBinder::LabelAffine ExpressionBinder::merged_index(const ast::MergedIndex& merged, SourceSpan span,
                                                             std::int64_t extent, const std::string& place) const {
  LabelAffine index;
  std::int64_t cells = 1;
  std::string extents;
  for (auto n = merged.labels.size(); n-- > 0;) {
    const auto& name = merged.labels[n].label;
    const auto* label = labels_.find(name);
    if (label == nullptr) {
      throw Error(ErrorKind::Label, "label " + name.text + " has no extent: it occurs in an index of labels alone",
                  name.span,
                  extent % std::max<std::int64_t>(cells, 1) == 0
                      ? "give all labels but one an extent there, as in (" + name.text + " 3, ...)"
                      : "");
    }
    index.coefficients.emplace_back(*label, cells);
    const auto indices = graph_.labels().extent(*label);
    cells = with_place(span, [&] { return checked_multiply(cells, indices); });
    extents = std::to_string(indices) + (extents.empty() ? "" : " * ") + extents;
  }
  if (cells == extent) return index;
  throw Error(ErrorKind::Shape,
              "the labels number " + extents + " = " + std::to_string(cells) + " indices, but " + place + " has " +
                  std::to_string(extent),
              span, "the product of their extents is that of the dimension: X[(i, j 3), k]");
}

ScalarPtr ExpressionBinder::affine_expression(const LabelAffine& affine) {
  std::vector<ScalarPtr> terms;
  for (const auto& [label, coefficient] : affine.coefficients) {
    auto value = ScalarExpression::label_index(label);
    terms.push_back(coefficient == 1 ? value : applied(ScalarOp::Multiply, {whole(coefficient), value}));
  }
  if (affine.offset != 0 || terms.empty()) terms.push_back(whole(affine.offset));
  return terms.size() == 1 ? terms.front() : applied(ScalarOp::Add, std::move(terms));
}

void ExpressionBinder::add_equation(Access& access, Label determined, const ScalarPtr& index) {
  add_condition(access, applied(ScalarOp::Equal, {ScalarExpression::label_index(determined), index}));
}

void ExpressionBinder::add_condition(Access& access, const ScalarPtr& condition) {
  access.condition = access.condition == nullptr ? condition : applied(ScalarOp::And, {access.condition, condition});
}

ExpressionBinder::LabelAffine ExpressionBinder::with_bound_labels(const NamedAffine& affine) const {
  LabelAffine bound{{}, affine.offset};
  for (const auto& [name, coefficient] : affine.coefficients) {
    const auto* known = labels_.find(*name);
    if (known == nullptr) {
      throw Error(ErrorKind::Label, "label " + name->text + " has no extent: it occurs in a computed index alone",
                  name->span,
                  "give it one in the head, as in " + name_ + "[" + name->text +
                      " 10], or where it is aggregated, as in SUM[" + name->text + " 3](...)");
    }
    bound.coefficients.emplace_back(*known, coefficient);
  }
  return bound;
}

void ExpressionBinder::add_computed(Access& access, const ast::Reference& e, std::size_t d, std::int64_t extent,
                                    bool& spread, Draft& draft) {
  const auto& term = e.terms[d];
  const auto& index = std::get<ast::ComputedIndex>(term.value).index.front();
  const auto determined = labels_.fresh(e.name.text + "." + std::to_string(d + 1), extent);
  const auto affine = affine_of(index);
  if (!affine) return add_gathered(access, e, d, determined, spread, draft);

  const auto bound = with_bound_labels(*affine);
  if (!e.padding) require_inside(bound, term.span, extent, dimension_of(e.name.text, d), affine->coefficients.size());
  add_labels_of_index(access, bound, spread);
  const auto value = affine_expression(bound);
  if (!e.padding || e.padding->kind == ast::Padding::Kind::Value) {
    if (has_filler(e)) add_inside(access, value, extent);
    access.labels.front().push_back(determined);
    return add_equation(access, determined, value);
  }
  if (extent == 0) throw Error(ErrorKind::Value, "there is no cell to read instead", e.padding->span, "use PAD 0");
  Labels over;
  for (const auto& [label, coefficient] : bound.coefficients) over.push_back(label);
  add_operand_equation(access, determined,
                       index_vertex(Draft{}, padded_index(e.padding->kind, value, extent), over, term.span));
}

// The index is a number of labels, of which the one with the most indices is last in the result's order: rows of cells
// along it stay together.
void ExpressionBinder::add_labels_of_index(Access& access, const LabelAffine& index, bool& spread) const {
  std::size_t longest = 0;
  const auto extent = [&](std::size_t n) { return graph_.labels().extent(index.coefficients[n].first); };
  for (std::size_t n = 1; n < index.coefficients.size(); ++n)
    if (extent(n) > extent(longest)) longest = n;
  spread = spread || index.coefficients.size() > 1;
  for (std::size_t n = 0; n < index.coefficients.size(); ++n)
    (spread && n == longest ? access.following : access.leading).add(index.coefficients[n].first);
}

void ExpressionBinder::add_inside(Access& access, const ScalarPtr& index, std::int64_t extent) {
  auto inside = is_inside(index, extent);
  access.inside = access.inside == nullptr ? inside : applied(ScalarOp::And, {access.inside, inside});
}

void ExpressionBinder::require_inside(const LabelAffine& index, SourceSpan span, std::int64_t extent,
                                      const std::string& place, std::size_t labels) const {
  std::int64_t least = index.offset;
  std::int64_t most = index.offset;
  bool is_empty = false;
  with_place(span, [&] {
    for (const auto& [label, coefficient] : index.coefficients) {
      const auto count = graph_.labels().extent(label);
      is_empty = is_empty || count == 0;
      const auto last = checked_multiply(coefficient, std::max<std::int64_t>(count, 1) - 1);
      auto& end = last < 0 ? least : most;
      end = checked_add(end, last);
    }
  });
  if (is_empty || (least >= 0 && most < extent)) return;
  const auto outside = std::to_string(least < 0 ? least : most);
  throw Error(ErrorKind::Value,
              "the index reaches " + outside + " outside " + place + ", which has extent " + std::to_string(extent),
              span,
              labels == 0 ? "indices go from 0 to " + std::to_string(extent - 1)
                          : "give a label a smaller extent in the head, or say what lies outside: PAD 0, PAD EDGE, PAD "
                            "REFLECT or PAD WRAP before the bracket closes");
}

// ---- Gathers -------------------------------------------------------------------------------------------------------

void ExpressionBinder::add_gathered(Access& access, const ast::Reference& e, std::size_t d, Label determined,
                                    bool& spread, Draft& draft) {
  const auto& term = e.terms[d];
  const auto& index = std::get<ast::ComputedIndex>(term.value).index.front();
  const auto extent = graph_.labels().extent(determined);
  auto inner = draft_inside(draft, {});
  const auto value = lower(index, inner);
  require_index_type(*value, inner, term.span);
  const auto over = free_labels(*value, inner);
  for (const auto label : over) (spread ? access.following : access.leading).add(label);
  ScalarPtr checked;
  if (!e.padding) checked = applied(ScalarOp::Case, {is_inside(value, extent), value, whole(kIndexOutOfBounds)});
  else if (e.padding->kind == ast::Padding::Kind::Value)
    checked = applied(ScalarOp::Case, {is_inside(value, extent), value, whole(-1)});
  else if (extent == 0) throw Error(ErrorKind::Value, "there is no cell to read instead", e.padding->span, "use PAD 0");
  else checked = padded_index(e.padding->kind, value, extent);
  const auto vertex = index_vertex(std::move(inner), checked, over, term.span);
  if (has_filler(e)) add_inside(access, operand(vertex, over, draft), extent);
  add_operand_equation(access, determined, vertex);
}

void ExpressionBinder::require_index_type(const ScalarExpression& index, const Draft& draft, SourceSpan span) const {
  const auto type = with_place(span, [&] { return kind_of(index, input_types(graph_, draft.inputs)).dtype; });
  if (type == DType::Int64) return;
  throw Error(ErrorKind::Type, "an index is a whole number, and this one is " + std::string(name_of(type)), span,
              "store the indices as INT64, or convert them: CAST(... AS INT64)");
}

VertexId ExpressionBinder::index_vertex(Draft draft, ScalarPtr index, Labels over, SourceSpan span) {
  EinSum einsum{.inputs = {},
                .output = std::move(over),
                .aggregated = {},
                .expression = std::move(index),
                .aggregate = Aggregate::None};
  const auto vertex = add_vertex(std::move(draft), std::move(einsum), span, DType::Int64);
  graph_.set_dtype(vertex, DType::Int64);
  return vertex;
}

void ExpressionBinder::add_operand_equation(Access& access, Label determined, VertexId index) {
  const auto over = graph_.vertex(index).einsum.output;
  for (const auto label : over) access.leading.add(label);
  access.labels.front().push_back(determined);
  access.gathered.push_back({determined, index, over});
}

// The labels of an access whose indices vertices have.
PackedIndex ExpressionBinder::packed_index(const Access& access) const {
  std::vector<std::pair<Label, std::int64_t>> labels;
  for (const auto& gathered : access.gathered)
    labels.emplace_back(gathered.determined, graph_.labels().extent(gathered.determined));
  return PackedIndex(std::move(labels));
}

// A vertex that holds all indices of an access in its elements, so that a cell is read by one look at it. If one of
// them is out of bounds, it says which (kIndexOutOfBounds).
VertexId ExpressionBinder::packed_vertex(const Access& access, const PackedIndex& packed, SourceSpan span) {
  const auto& gathered = access.gathered;
  auto vertex = gathered.front().index;
  auto over = gathered.front().over;
  const auto is_outside = [](const ScalarPtr& index) {
    return applied(ScalarOp::Less, {index, whole(kLeastPackedIndices)});
  };
  for (std::size_t n = 1; n < gathered.size(); ++n) {
    Draft draft;
    const auto before = operand(vertex, over, draft);
    const auto index = operand(gathered[n].index, gathered[n].over, draft);
    DistinctLabels all;
    all.add(over);
    all.add(gathered[n].over);
    over = all.labels();
    vertex = index_vertex(std::move(draft),
                          applied(ScalarOp::Case, {is_outside(before), before, is_outside(index),
                                                   whole(kIndexOutOfBounds + static_cast<std::int64_t>(n)),
                                                   packed.appended(before, index, n)}),
                          over, span);
  }
  return vertex;
}

void ExpressionBinder::add_operand_equations(Access& access, SourceSpan span) {
  if (access.gathered.empty()) return;
  const auto add_operand = [&](VertexId index) {
    access.inputs.push_back(index);
    access.labels.push_back(graph_.vertex(index).einsum.output);
    return ScalarExpression::operand(access.inputs.size() - 1);
  };
  const auto packed = packed_index(access);
  if (access.gathered.size() > 1 && packed.fits())
    return add_condition(access, packed.condition(add_operand(packed_vertex(access, packed, span))));
  for (const auto& gathered : access.gathered) add_equation(access, gathered.determined, add_operand(gathered.index));
}

ScalarPtr ExpressionBinder::finish_access(Access access, const ast::Reference& e, SourceSpan span, Draft& draft) {
  add_operand_equations(access, span);
  auto result = access.leading;
  result.add(access.following.labels());
  auto vertex = access.inputs.front();
  if (access.condition != nullptr) {
    DistinctLabels all;
    for (const auto& labels : access.labels) all.add(labels);
    EinSum einsum{.inputs = access.labels,
                  .output = result.labels(),
                  .aggregated = difference(all.labels(), result.labels()),
                  .expression = applied(ScalarOp::Case, {access.condition, ScalarExpression::operand(0), whole(0)}),
                  .aggregate = Aggregate::Sum};
    const bool adapts = graph_.vertex(vertex).adapts();
    vertex = with_place(span, [&] {
      auto made = make_vertex(graph_, next_name(), std::move(access.inputs), std::move(einsum));
      made.is_part_of_adapting = adapts;
      return graph_.add(std::move(made));
    });
  }
  auto value = access.condition != nullptr ? operand(vertex, result.labels(), draft)
                                           : operand(vertex, access.labels.front(), draft);
  if (!has_filler(e)) return value;
  const auto& given = e.padding->value.front();
  DistinctLabels free;
  collect_free_labels(given, draft.visible, free);
  if (!free.labels().empty())
    throw Error(ErrorKind::Value, "the value after PAD is a constant, and this one has labels", given.span,
                "choose with CASE WHEN i < 3 THEN ... ELSE ... END");
  auto filler = lower(given, draft);
  if (access.inside == nullptr) return value;
  return applied(ScalarOp::Case, {access.inside, value, std::move(filler)});
}

}  // namespace eindb
