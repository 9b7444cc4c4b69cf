#include <algorithm>
#include <set>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "parser/ast_children.hpp"
#include "parser/binder/expression_binder.hpp"

namespace eindb {
namespace {

void collect_names(const ast::Expression& e, std::set<std::string>& out) {
  if (const auto* name = std::get_if<ast::Name>(&e.node)) out.insert(name->name.text);
  if (const auto* reference = std::get_if<ast::Reference>(&e.node)) {
    for (const auto& term : reference->terms) {
      if (const auto* label = std::get_if<ast::Identifier>(&term.value)) out.insert(label->text);
      if (const auto* merged = std::get_if<ast::MergedIndex>(&term.value))
        for (const auto& dimension : merged->labels) out.insert(dimension.label.text);
    }
  }
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node); aggregate != nullptr && aggregate->labels) {
    for (const auto& dimension : *aggregate->labels) out.insert(dimension.label.text);
  }
  for_each_child(e, [&](const ast::Expression& child) { collect_names(child, out); });
}

}  // namespace

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

// Of an ast::Extent or ast::RangeBound that is no name.
template <class Number>
std::int64_t ExpressionBinder::range_number(const Number& number) const {
  if (const auto* integer = std::get_if<ast::Integer>(&number.value)) return integer->value;
  return parameters_.integer(std::get<ast::Parameter>(number.value), number.span);
}

std::int64_t ExpressionBinder::extent_of(const ast::Extent& extent) const {
  const auto value = range_number(extent);
  if (value < 0) throw Error(ErrorKind::Shape, "an extent cannot be " + std::to_string(value), extent.span);
  return value;
}

// The name of an index at which a range begins or ends, in the statement or as parameter; nullopt for a number.
std::optional<std::string> ExpressionBinder::name_of_bound(const ast::RangeBound& bound,
                                                           const IndexNames::Ptr& names) const {
  if (const auto* text = std::get_if<ast::Text>(&bound.value)) return text->value;
  const auto* parameter = std::get_if<ast::Parameter>(&bound.value);
  const auto* given = parameter != nullptr && names != nullptr ? parameters_.text(*parameter) : nullptr;
  return given != nullptr ? std::optional(*given) : std::nullopt;
}

// A name stands for its index, so that 'a':'c' is without c, as 0:2 is without 2. A calendar goes on behind its last
// day or time, where a range may end.
ExpressionBinder::Range ExpressionBinder::range_of(const ast::IndexRange& range, SourceSpan span, std::int64_t extent,
                                                   const IndexNames::Ptr& names, const std::string& place) const {
  const auto step = range.step ? range_number(*range.step) : 1;
  if (step == 0) throw Error(ErrorKind::Value, "the step of a range cannot be 0", span);
  const auto bound = [&](const std::optional<ast::RangeBound>& given, std::int64_t otherwise) {
    if (!given) return otherwise;
    if (const auto name = name_of_bound(*given, names)) {
      const bool is_end = &given == &range.end && step > 0;
      if (is_end && names != nullptr && names->is_behind_last(*name)) return extent;
      return index_called(*name, names, given->span, place);
    }
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
  const auto has_name = [&](const auto& given) { return given && name_of_bound(*given, names); };
  if (distance < 0 && (has_name(range.begin) || has_name(range.end))) {
    throw Error(ErrorKind::Value,
                "the range ends before it begins: from index " + std::to_string(begin) + " to before index " +
                    std::to_string(end) + " of " + place + (step < 0 ? ", backwards" : ""),
                span,
                step > 0 ? "names stand in the order of their indices; a step of -1 goes back: 'c':'a':-1"
                         : "names stand in the order of their indices, and a negative step goes back: 'c':'a':-1");
  }
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
    sweep_labels(*reference, bound_of(tensors_.get(reference->name)), e.span);
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node); aggregate != nullptr && aggregate->labels) {
    for (const auto& dimension : *aggregate->labels)
      if (dimension.extent)
        own_labels_.add(labels_.bind_at(dimension.label, extent_of(*dimension.extent), "an aggregate of " + name_));
  }
  for_each_child(e, [&](const ast::Expression& child) { sweep_labels(child); });
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node);
      aggregate != nullptr && (joins_arguments(aggregate->op) || aggregate->op == ast::AggregateOp::Rfft))
    sized_.push_back(aggregate);
}

void ExpressionBinder::sweep_labels(const ast::Reference& reference, const NamedShape& named, SourceSpan span) {
  const auto& name = reference.name.text;
  const auto& bound = named.shape;
  require_rank(bound, reference.terms.size(), name, span);
  std::size_t ranges = 0;
  for (std::size_t d = 0; d < reference.terms.size(); ++d) {
    const auto& term = reference.terms[d];
    if (const auto* label = std::get_if<ast::Identifier>(&term.value)) {
      own_labels_.add(labels_.bind(*label, bound[d], name, d, named.names.at(d)));
    } else if (const auto* range = std::get_if<ast::IndexRange>(&term.value)) {
      const auto [begin, step, count] = range_of(*range, term.span, bound[d], named.names.at(d), dimension_of(name, d));
      const auto names = named.names.at(d) == nullptr ? nullptr : named.names.at(d)->slice(begin, step, count);
      own_labels_.add(labels_.bind(range_label(ranges++, term.span), count, name, d, names));
    } else if (std::holds_alternative<ast::Text>(term.value)) {
      held_index(term, bound[d], named.names.at(d), dimension_of(name, d));  // says what is wrong before others do
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

// A label along which CONCAT joins has the sum of the extents, one of STACK the number of arguments, and one of RFFT
// half as many indices as the values, and one more. Those whose arguments' extents are not known yet are left for
// later.
void ExpressionBinder::infer_extents_of_results() {
  const auto extent_of_result = [&](const ast::Aggregate& e) -> std::optional<std::int64_t> {
    if (e.op == ast::AggregateOp::Stack) return static_cast<std::int64_t>(1 + e.second.size());
    if (e.op == ast::AggregateOp::Rfft) {
      const auto* along = labels_.find(e.labels->front().label);
      return along == nullptr ? std::nullopt : std::optional(graph_.labels().extent(*along) / 2 + 1);
    }
    std::int64_t sum = 0;
    for (const auto& own : e.own) {
      const auto* label = own ? labels_.find(*own) : nullptr;
      if (own && label == nullptr) return std::nullopt;
      const auto extent = own ? graph_.labels().extent(*label) : 1;
      sum = with_place(e.op_span, [&] { return checked_add(sum, extent); });
    }
    return sum;
  };
  std::erase_if(sized_, [&](const ast::Aggregate* e) {
    const std::size_t place = e->op == ast::AggregateOp::Rfft ? 1 : 0;
    if (!e->labels || e->labels->size() <= place) return true;  // an error that lower() tells
    const auto extent = extent_of_result(*e);
    if (extent) own_labels_.add(labels_.bind_at((*e->labels)[place].label, *extent, "the result of " + word_of(e->op)));
    return extent.has_value();
  });
}

// Labels that occur in computed indices alone have the most indices for which all of those are inside.
void ExpressionBinder::infer_extents() {
  infer_merged_extents();
  infer_extents_of_results();
  std::vector<AffineIndex> indices;
  for (const auto& constraint : constraints_)
    if (auto affine = affine_of(*constraint.index)) indices.push_back({*std::move(affine), constraint.extent});
  while (infer_extent(indices, true) || infer_extent(indices, false)) {
  }
  infer_extents_of_results();
  infer_merged_extents();
}

}  // namespace eindb
