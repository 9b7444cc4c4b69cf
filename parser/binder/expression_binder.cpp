#include "parser/binder/expression_binder.hpp"

#include <algorithm>
#include <cctype>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "common/poll_steps.hpp"
#include "common/stack_guard.hpp"
#include "parser/ast_children.hpp"
#include "parser/binder/result_binder.hpp"
#include "parser/expression_words.hpp"
#include "parser/foreign_words.hpp"
#include "plan/selection.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

constexpr std::size_t kStepsPerNode = 50;

ScalarOp scalar_op(ast::InfixOp op) {
  switch (op) {
    case ast::InfixOp::Or: return ScalarOp::Or;
    case ast::InfixOp::And: return ScalarOp::And;
    case ast::InfixOp::Equal: return ScalarOp::Equal;
    case ast::InfixOp::NotEqual: return ScalarOp::NotEqual;
    case ast::InfixOp::Less: return ScalarOp::Less;
    case ast::InfixOp::LessEqual: return ScalarOp::LessEqual;
    case ast::InfixOp::Greater: return ScalarOp::Greater;
    case ast::InfixOp::GreaterEqual: return ScalarOp::GreaterEqual;
    case ast::InfixOp::Add: return ScalarOp::Add;
    case ast::InfixOp::Subtract: return ScalarOp::Subtract;
    case ast::InfixOp::Multiply: return ScalarOp::Multiply;
    case ast::InfixOp::Divide: return ScalarOp::Divide;
    case ast::InfixOp::Modulo: return ScalarOp::Modulo;
    case ast::InfixOp::Power: return ScalarOp::Power;
    case ast::InfixOp::Xor: return ScalarOp::NotEqual;
    case ast::InfixOp::BitAnd: return ScalarOp::BitAnd;
    case ast::InfixOp::BitOr: return ScalarOp::BitOr;
    case ast::InfixOp::ShiftLeft: return ScalarOp::ShiftLeft;
    case ast::InfixOp::ShiftRight: return ScalarOp::ShiftRight;
  }
  return ScalarOp::Add;
}

ScalarPtr truth_of(ScalarPtr value) {
  if (gives_boolean(*value)) return value;
  return ScalarExpression::call(ScalarOp::NotEqual, {std::move(value), ScalarExpression::integer(0)});
}

std::string example_reference(const std::string& name, std::size_t rank) {
  static constexpr std::string_view kLetters = "ijklmnopqrstuvw";
  std::string out = name + "[";
  for (std::size_t d = 0; d < rank; ++d) {
    out += d == 0 ? "" : ",";
    out += rank <= kLetters.size() ? std::string(1, kLetters[d]) : "i" + std::to_string(d + 1);
  }
  return out + "]";
}

// Whether a definition that consists of this aggregate alone is one EinSum.
bool is_one_vertex(ast::AggregateOp op) {
  using enum ast::AggregateOp;
  return op == Sum || op == Prod || op == Min || op == Max || op == User;
}

DType type_named(const ast::Identifier& name) {
  if (const auto type = parse_dtype(name.text)) return *type;
  constexpr const char* kTypes = "use FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 or INT64";
  if (!parse_stored_type(name.text)) throw Error(ErrorKind::Type, "there is no type " + name.text, name.span, kTypes);
  throw Error(ErrorKind::Type, name.text + " is a type of stored tensors, not one to compute in", name.span,
              std::string(kTypes) + "; CREATE TENSOR Z " + to_upper(name.text) + " AS ... stores a result so");
}

// Whether the result of a vertex has the type in which it is computed: then it can be converted to another one, without
// a conversion before that.
bool is_computed_type(const Vertex& vertex) { return vertex.dtype == vertex.compute_dtype; }

bool is_comparison(ast::InfixOp op) { return op >= ast::InfixOp::Equal && op <= ast::InfixOp::GreaterEqual; }

// a < b as b > a.
ast::InfixOp turned(ast::InfixOp op) {
  switch (op) {
    case ast::InfixOp::Less: return ast::InfixOp::Greater;
    case ast::InfixOp::LessEqual: return ast::InfixOp::GreaterEqual;
    case ast::InfixOp::Greater: return ast::InfixOp::Less;
    case ast::InfixOp::GreaterEqual: return ast::InfixOp::LessEqual;
    default: return op;
  }
}

// Collects the factors of a product, regardless of parentheses.
void collect_factors(const ast::Expression& e, std::vector<const ast::Expression*>& out) {
  const auto* infix = std::get_if<ast::Infix>(&e.node);
  const auto is_product = infix != nullptr && std::all_of(infix->operators.begin(), infix->operators.end(),
                                                          [](auto op) { return op == ast::InfixOp::Multiply; });
  if (!is_product) return out.push_back(&e);
  for (const auto& factor : infix->operands) collect_factors(factor, out);
}

}  // namespace

ExpressionBinder::ExpressionBinder(EinGraph& graph, TensorScope& tensors, LabelScope& labels,
                                   const ParameterScope& parameters, std::string name,
                                   std::function<std::vector<std::string>()> macro_names, std::uint32_t scope)
    : graph_(graph),
      tensors_(tensors),
      labels_(labels),
      parameters_(parameters),
      name_(std::move(name)),
      macro_names_(std::move(macro_names)),
      scope_(scope) {}

void ExpressionBinder::check_names(const ast::Expression& e) {
  if (const auto* call = std::get_if<ast::Call>(&e.node)) {
    const auto& word = call->function.text;
    if (const auto* matrices = find_matrix_function(e))
      throw Error(ErrorKind::Value, std::string(matrices->word) + " stands alone to the right of a definition", e.span,
                  "define it in WITH: WITH " + std::string(matrices->example) + " EINSUM ...");
    if (!find_generator(word) && !find_scalar_function(word)) unknown_function(call->function);
  } else if (const auto* name = std::get_if<ast::Name>(&e.node);
             name != nullptr && labels_.find(name->name) == nullptr) {
    const auto tensor = tensors_.find(name->name);
    if (tensor) require_rank(graph_.vertex(*tensor).bound, 0, name->name.text, e.span);
    else if (!hint_for_value(name->name.text).empty()) unknown_name(name->name, e.span);
  }
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node);
      aggregate != nullptr && aggregate->op == ast::AggregateOp::User)
    require_defined(*aggregate);
  for_each_child(e, [&](const ast::Expression& child) { check_names(child); });
}

VertexId ExpressionBinder::bind(const ast::Expression& e, Labels head) {
  head_ = std::move(head);
  own_labels_.add(head_);
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node);
      aggregate != nullptr && !aggregate->running && is_one_vertex(aggregate->op)) {
    return bind_aggregate(*aggregate, e.span);
  }
  Draft draft{.inputs = {}, .labels = {}, .visible = head_, .cell = head_, .numbers = {}};
  const auto* cast = std::get_if<ast::Cast>(&e.node);
  const auto& body = cast != nullptr ? cast->operand.front() : e;
  whole_ = std::get_if<ast::Aggregate>(&body.node);
  const auto first_made = graph_.size();
  auto lowered_body = lower(body, draft);
  require_in_head(body, free_labels(*lowered_body, draft));
  // The result of an aggregate used unchanged needs no further vertex.
  const auto made = lowered_body->kind() == Kind::Operand ? lowered_body->operand() : draft.inputs.size();
  const bool is_made = made < draft.inputs.size() && draft.labels[made] == head_ &&
                       draft.inputs[made].index() >= first_made && !graph_.vertex(draft.inputs[made]).is_input() &&
                       graph_.vertex(draft.inputs[made]).einsum.output == head_ &&
                       (cast == nullptr || is_computed_type(graph_.vertex(draft.inputs[made])));
  EinSum einsum{
      .inputs = {}, .output = head_, .aggregated = {}, .expression = lowered_body, .aggregate = Aggregate::None};
  const auto vertex = is_made ? draft.inputs[made] : add_vertex(std::move(draft), std::move(einsum), e.span);
  if (cast != nullptr) convert(vertex, type_named(cast->type), cast->type.span);
  return vertex;
}

VertexId ExpressionBinder::bind_contraction(const ast::Expression& e, Labels head,
                                            const std::function<ContractionSteps(std::size_t)>& steps,
                                            SourceSpan place) {
  head_ = std::move(head);
  own_labels_.add(head_);
  const auto* aggregate = std::get_if<ast::Aggregate>(&e.node);
  std::vector<const ast::Expression*> factors;
  if (aggregate == nullptr || (aggregate->op == ast::AggregateOp::Sum && !aggregate->running))
    collect_factors(aggregate != nullptr ? aggregate->argument.front() : e, factors);
  if (factors.empty() || (aggregate == nullptr && factors.size() == 1)) {
    throw Error(ErrorKind::Value, "USING PATH orders the contraction of a product or of a SUM of one", place,
                "write " + name_ + "[...] = SUM(X[...] * Y[...] * ...)");
  }
  const auto over = aggregate != nullptr ? aggregated_labels(*aggregate, head_) : Labels{};
  const Draft outer{.inputs = {}, .labels = {}, .visible = head_, .cell = head_, .numbers = {}};
  const auto inside = draft_inside(outer, over);
  std::vector<ContractionOperand> operands;
  DistinctLabels present;
  for (const auto* factor : factors) {
    operands.push_back(materialize(*factor, inside));
    present.add(operands.back().labels);
  }
  require_in_head(e, difference(present.labels(), over));
  for (const auto& missing : {difference(over, present.labels()), difference(head_, present.labels())}) {
    if (missing.empty()) continue;
    throw Error(ErrorKind::Label, "label " + graph_.labels().name(missing.front()) + " is in no factor of the product",
                place, "leave USING PATH out");
  }
  return contract(graph_, name_, operands, head_, steps(operands.size()));
}

ScalarPtr ExpressionBinder::lower(const ast::Expression& e, Draft& draft) {
  poll_cancellation_after(kStepsPerNode);
  require_stack();
  return std::visit([&](const auto& node) { return lower(node, e.span, draft); }, e.node);
}

ScalarPtr ExpressionBinder::lower(const ast::Integer& e, SourceSpan, Draft&) {
  return ScalarExpression::integer(e.value);
}
ScalarPtr ExpressionBinder::lower(const ast::Real& e, SourceSpan, Draft&) { return ScalarExpression::real(e.value); }

ScalarPtr ExpressionBinder::lower(const ast::Parameter& e, SourceSpan span, Draft&) {
  return parameters_.scalar(e, span);
}

ScalarPtr ExpressionBinder::lower(const ast::Text& e, SourceSpan span, Draft&) {
  throw Error(ErrorKind::Value, "'" + e.value + "' is no number", span,
              "a text is what an index is called: X['" + e.value + "',j], or label = '" + e.value +
                  "'; names of tensors and labels stand in double quotes");
}

// A text, or a parameter whose value is one.
const std::string* ExpressionBinder::text_of(const ast::Expression& e) const {
  if (const auto* text = std::get_if<ast::Text>(&e.node)) return &text->value;
  const auto* parameter = std::get_if<ast::Parameter>(&e.node);
  return parameter == nullptr ? nullptr : parameters_.text(*parameter);
}

// label = 'Oslo'. Of names that ascend, day >= '2024-03' is a range of indices.
ScalarPtr ExpressionBinder::compared_with_name(ast::InfixOp op, const ast::Expression& label, const std::string& name,
                                               SourceSpan span) const {
  const auto* bare = std::get_if<ast::Name>(&label.node);
  const auto* found = bare == nullptr ? nullptr : label_named(bare->name);
  if (found == nullptr) {
    throw Error(ErrorKind::Value, "'" + name + "' is compared with something that is no label", span,
                "texts are what indices of labels are called");
  }
  const auto place = "label " + bare->name.text;
  const auto names = graph_.labels().index_names(*found);
  const auto against = [&](ScalarOp comparison, std::int64_t index) {
    return ScalarExpression::call(comparison,
                                  {ScalarExpression::label_index(*found), ScalarExpression::integer(index)});
  };
  const bool is_order = op != ast::InfixOp::Equal && op != ast::InfixOp::NotEqual;
  if (!is_order || names == nullptr) return against(scalar_op(op), index_called(name, names, span, place));
  if (!names->ascend()) {
    throw Error(ErrorKind::Value, "the names of " + place + " do not ascend, so that nothing is before '" + name + "'",
                span, "compare the indices with a number");
  }
  const bool with_equal = op == ast::InfixOp::LessEqual || op == ast::InfixOp::Greater;
  const bool below = op == ast::InfixOp::Less || op == ast::InfixOp::LessEqual;
  return against(below ? ScalarOp::Less : ScalarOp::GreaterEqual, names->count_below(name, with_equal));
}

ScalarPtr ExpressionBinder::compared(ast::InfixOp op, const ast::Expression& left, const ast::Expression& right,
                                     Draft& draft) {
  if (const auto* name = text_of(right)) return compared_with_name(op, left, *name, right.span);
  if (const auto* name = text_of(left)) return compared_with_name(turned(op), right, *name, left.span);
  return ScalarExpression::call(scalar_op(op), {lower(left, draft), lower(right, draft)});
}

ScalarPtr ExpressionBinder::lower(const ast::Name& e, SourceSpan span, Draft& draft) {
  if (e.name.scope == ast::kCombinedScope) return ScalarExpression::operand(e.name.text == "0" ? 0 : 1);
  if (const auto* label = label_named(e.name)) return ScalarExpression::label_index(*label);
  const auto vertex = tensors_.find(e.name);
  if (!vertex) unknown_name(e.name, span);
  require_rank(graph_.vertex(*vertex).bound, 0, e.name.text, span);
  return operand(*vertex, {}, draft);
}

ScalarPtr ExpressionBinder::lower(const ast::Reference& e, SourceSpan span, Draft& draft) {
  const auto is_plain = [](const ast::IndexTerm& term) {
    return !std::holds_alternative<ast::IndexRange>(term.value) &&
           !std::holds_alternative<ast::ComputedIndex>(term.value) &&
           !std::holds_alternative<ast::MergedIndex>(term.value);
  };
  if (!std::all_of(e.terms.begin(), e.terms.end(), is_plain)) return lower_access(e, span, draft);
  const auto tensor = tensors_.get(e.name);
  const auto [at, deferred] = held_indices(e, bound_of(tensor));
  Labels labels;
  for (std::size_t d = 0; d < e.terms.size(); ++d)
    if (!at[d]) labels.push_back(*labels_.find(std::get<ast::Identifier>(e.terms[d].value)));
  if (labels.size() == e.terms.size()) return operand(tensor, std::move(labels), draft);
  return operand(selected(tensor, at, deferred), std::move(labels), draft);
}

ExpressionBinder::HeldIndices ExpressionBinder::held_indices(const ast::Reference& e, const NamedShape& bound) const {
  HeldIndices held;
  for (std::size_t d = 0; d < e.terms.size(); ++d) {
    held.at.push_back(held_index(e.terms[d], bound.shape[d], bound.names.at(d), dimension_of(e.name.text, d)));
    const auto* parameter = std::get_if<ast::Parameter>(&e.terms[d].value);
    if (parameter != nullptr && parameters_.is_deferred(*parameter)) held.deferred.emplace(d, parameter->number - 1);
  }
  return held;
}

// Repeated selections share one vertex, since an expression may name a selection many times.
VertexId ExpressionBinder::selected(VertexId tensor, const std::vector<std::optional<std::int64_t>>& at,
                                    const std::map<std::size_t, std::size_t>& deferred) {
  auto key = std::to_string(tensor.index()) + Selection{.stored = {}, .at = at, .parameters = deferred}.to_string();
  auto [known, is_new] = selections_.try_emplace(std::move(key));
  if (is_new) known->second = select(graph_, tensor, at, deferred);
  return known->second;
}

// The index that is called so.
std::int64_t ExpressionBinder::index_called(const std::string& name, const IndexNames::Ptr& names, SourceSpan span,
                                            const std::string& place) {
  if (names == nullptr) {
    throw Error(ErrorKind::Value, "the indices of " + place + " have no names", span,
                "give a number, or a label without quotes or in double ones");
  }
  if (const auto index = names->find(name); index >= 0) return index;
  const auto nearest = names->nearest(name);
  throw Error(ErrorKind::UnknownName, "no index of " + place + " is called '" + name + "'", span,
              !nearest.empty() ? "did you mean '" + nearest + "'?"
              : names->size() == 0
                  ? ""
                  : "they are called '" + names->name(0) + "' to '" + names->name(names->size() - 1) + "'");
}

std::optional<std::int64_t> ExpressionBinder::held_index(const ast::IndexTerm& term, std::int64_t extent,
                                                         const IndexNames::Ptr& names, const std::string& place) const {
  if (const auto* text = std::get_if<ast::Text>(&term.value)) return index_called(text->value, names, term.span, place);
  const auto* parameter = std::get_if<ast::Parameter>(&term.value);
  const auto* given = parameter != nullptr ? parameters_.text(*parameter) : nullptr;
  if (given != nullptr && names != nullptr) return index_called(*given, names, term.span, place);
  const auto* integer = std::get_if<ast::Integer>(&term.value);
  if (parameter == nullptr && integer == nullptr) return std::nullopt;
  const auto index = parameter != nullptr ? parameters_.index(*parameter, term.span) : integer->value;
  if (const auto held = index_within(index, extent)) return held;
  throw Error(
      ErrorKind::Value,
      "index " + std::to_string(index) + " lies outside " + place + ", which has extent " + std::to_string(extent),
      term.span,
      extent > 0
          ? "indices go from 0 to " + std::to_string(extent - 1) + ", or from -1 back to " + std::to_string(-extent)
          : "");
}

ScalarPtr ExpressionBinder::operand(VertexId vertex, Labels labels, Draft& draft) {
  std::string key = std::to_string(vertex.index());
  for (const auto label : labels) key += "," + std::to_string(label.index());
  const auto [known, is_new] = draft.numbers.try_emplace(std::move(key), draft.inputs.size());
  if (is_new) {
    draft.inputs.push_back(vertex);
    draft.labels.push_back(std::move(labels));
  }
  if (graph_.vertex(vertex).adapts()) return ScalarExpression::small_integer_operand(known->second);
  return ScalarExpression::operand(known->second);
}

// The result of a vertex of this definition, read with its own labels.
ScalarPtr ExpressionBinder::operand(VertexId vertex, Draft& draft) {
  return operand(vertex, graph_.vertex(vertex).einsum.output, draft);
}

// The same, for numbers without a type of their own.
ScalarPtr ExpressionBinder::adapting_operand(VertexId vertex, DType kind, Draft& draft) {
  return ScalarExpression::adapting_operand(operand(vertex, draft)->operand(), kind);
}

ScalarPtr ExpressionBinder::lower(const ast::Call& e, SourceSpan span, Draft& draft) {
  if (const auto kind = find_generator(e.function.text)) return lower_random(e, *kind, draft);
  const auto word = to_upper(e.function.text);
  const auto op = find_scalar_function(e.function.text);
  if (!op) unknown_function(e.function);
  const auto& info = info_of(*op);
  const auto given = static_cast<int>(e.arguments.size());
  if (given < info.min_arguments || (info.max_arguments >= 0 && given > info.max_arguments)) {
    const auto wanted = std::to_string(info.min_arguments) + (info.max_arguments < 0 ? " or more" : "");
    throw Error(ErrorKind::Value,
                word + " takes " + wanted + (wanted == "1" ? " argument" : " arguments") + ", but " +
                    std::to_string(given) + (given == 1 ? " is" : " are") + " given",
                span);
  }
  std::vector<ScalarPtr> arguments;
  for (const auto& argument : e.arguments) arguments.push_back(lower(argument, draft));
  return ScalarExpression::call(*op, std::move(arguments));
}

void ExpressionBinder::unknown_name(const ast::Identifier& name, SourceSpan span) const {
  auto hint = hint_for_value(name.text);
  const auto nearest = nearest_name(name.text, tensors_.known_names());
  if (hint.empty() && nearest) hint = "did you mean " + *nearest + "?";
  if (hint.empty()) {
    hint =
        "a label that is used as a number needs an extent: from a reference, or in the head as '" + name.text + " 10'";
  }
  throw Error(ErrorKind::UnknownName, name.text + " is neither a label of this statement nor a tensor", span, hint);
}

void ExpressionBinder::unknown_function(const ast::Identifier& function) {
  auto hint = hint_for_function(function.text);
  if (hint.empty() && tensors_.find(function)) hint = "labels stand in brackets: " + function.text + "[i,j]";
  if (hint.empty()) {
    auto candidates = macro_names_();
    for (const auto name : {"RANDOM", "RANDN"}) candidates.emplace_back(name);
    for (const auto name : aggregate_names()) candidates.emplace_back(name);
    for (const auto name : scalar_function_names()) candidates.emplace_back(name);
    for (const auto& matrices : kMatrixFunctions) candidates.emplace_back(matrices.word);
    if (const auto nearest = nearest_name(function.text, candidates)) hint = "did you mean " + *nearest + "?";
  }
  throw Error(ErrorKind::UnknownName, "there is no function " + function.text, function.span, hint);
}

// The value of a constant expression of numbers, such as a seed.
std::optional<std::int64_t> ExpressionBinder::constant_integer(const ast::Expression& e) const {
  if (const auto* integer = std::get_if<ast::Integer>(&e.node)) return integer->value;
  if (const auto* parameter = std::get_if<ast::Parameter>(&e.node)) return parameters_.integer(*parameter, e.span);
  if (const auto* prefix = std::get_if<ast::Prefix>(&e.node);
      prefix != nullptr && prefix->op == ast::PrefixOp::Negate) {
    if (const auto value = constant_integer(prefix->operand.front()); value && *value != INT64_MIN) return -*value;
  }
  return std::nullopt;
}

ScalarPtr ExpressionBinder::lower_random(const ast::Call& e, Kind kind, const Draft& draft) {
  const auto seed = e.arguments.size() == 1 ? constant_integer(e.arguments.front()) : std::nullopt;
  if (!seed) {
    throw Error(ErrorKind::Value, to_upper(e.function.text) + " takes one integer, the seed",
                e.arguments.empty() ? e.function.span : e.arguments.front().span,
                "write " + to_upper(e.function.text) + "(1); in a macro the seed may be a parameter");
  }
  return ScalarExpression::random(kind, static_cast<std::uint64_t>(*seed), draft.cell);
}

ScalarPtr ExpressionBinder::lower(const ast::Prefix& e, SourceSpan, Draft& draft) {
  auto value = lower(e.operand.front(), draft);
  if (e.op == ast::PrefixOp::BitNot) return ScalarExpression::call(ScalarOp::BitNot, {std::move(value)});
  if (e.op == ast::PrefixOp::Not) return ScalarExpression::call(ScalarOp::Not, {std::move(value)});
  if (value->kind() == Kind::Integer && value->integer_value() != INT64_MIN)
    return ScalarExpression::integer(-value->integer_value());
  if (value->kind() == Kind::Real) return ScalarExpression::real(-value->real_value());
  return ScalarExpression::call(ScalarOp::Negate, {std::move(value)});
}

// a AND b AND c AND d as (a AND b) AND (c AND d): the same value with logarithmic depth.
ScalarPtr ExpressionBinder::lower_logic(const ast::Infix& e, Draft& draft) {
  std::vector<ScalarPtr> parts;
  for (const auto& operand : e.operands) parts.push_back(lower(operand, draft));
  while (parts.size() > 1) {
    std::vector<ScalarPtr> pairs;
    for (std::size_t n = 0; n + 1 < parts.size(); n += 2)
      pairs.push_back(ScalarExpression::call(scalar_op(e.operators.front()), {parts[n], parts[n + 1]}));
    if (parts.size() % 2 == 1) pairs.push_back(parts.back());
    parts = std::move(pairs);
  }
  return parts.front();
}

ScalarPtr ExpressionBinder::lower(const ast::Infix& e, SourceSpan, Draft& draft) {
  // From left to right; a run of + or of * is one call. In long sums, subtractions become negated terms, so that the
  // expression stays flat.
  constexpr std::size_t kLongChain = 64;
  if (is_comparison(e.operators.front()))
    return compared(e.operators.front(), e.operands.front(), e.operands.back(), draft);
  const bool logic = e.operators.front() == ast::InfixOp::And || e.operators.front() == ast::InfixOp::Or;
  if (logic && e.operators.size() > kLongChain) return lower_logic(e, draft);
  const bool long_sum = e.operators.size() > kLongChain &&
                        (e.operators.front() == ast::InfixOp::Add || e.operators.front() == ast::InfixOp::Subtract);
  const bool either = e.operators.front() == ast::InfixOp::Xor;  // the truth values differ
  const auto lower_operand = [&](const ast::Expression& operand) {
    auto value = lower(operand, draft);
    return either ? truth_of(std::move(value)) : value;
  };
  auto result = lower_operand(e.operands.front());
  std::size_t n = 0;
  while (n < e.operators.size()) {
    const auto run = e.operators[n];
    const auto op = long_sum ? ScalarOp::Add : scalar_op(run);
    const bool flat = op == ScalarOp::Add || op == ScalarOp::Multiply;
    std::vector<ScalarPtr> arguments{std::move(result)};
    do {
      auto next = lower_operand(e.operands[n + 1]);
      if (long_sum && e.operators[n] == ast::InfixOp::Subtract)
        next = ScalarExpression::call(ScalarOp::Negate, {std::move(next)});
      arguments.push_back(std::move(next));
      ++n;
    } while (flat && n < e.operators.size() && (long_sum || e.operators[n] == run));
    result = ScalarExpression::call(op, std::move(arguments));
  }
  return result;
}

ScalarPtr ExpressionBinder::lower(const ast::Case& e, SourceSpan span, Draft& draft) {
  if (e.otherwise.empty()) {
    throw Error(ErrorKind::Value, "CASE needs an ELSE: a cell always has a value", span, "write ... ELSE 0 END");
  }
  std::vector<ScalarPtr> arguments;
  for (const auto& branch : e.branches) {
    arguments.push_back(e.subject.empty() ? lower(branch.when, draft)
                                          : compared(ast::InfixOp::Equal, e.subject.front(), branch.when, draft));
    arguments.push_back(lower(branch.then, draft));
  }
  arguments.push_back(lower(e.otherwise.front(), draft));
  return ScalarExpression::call(ScalarOp::Case, std::move(arguments));
}

ScalarPtr ExpressionBinder::lower(const ast::Cast& e, SourceSpan span, Draft& draft) {
  // The conversion is done by the result type of a vertex of its own.
  auto inner = draft_inside(draft, {});
  auto expression = lower(e.operand.front(), inner);
  EinSum einsum{.inputs = {},
                .output = in_order_of_head(free_labels(*expression, inner)),
                .aggregated = {},
                .expression = expression,
                .aggregate = Aggregate::None};
  const auto vertex = add_vertex(std::move(inner), std::move(einsum), span);
  convert(vertex, type_named(e.type), e.type.span);
  return operand(vertex, draft);
}

void ExpressionBinder::convert(VertexId vertex, DType type, SourceSpan place) {
  require_convertible(graph_.vertex(vertex).dtype, type, place);
  set_result_type(graph_, vertex, type);
}

void require_rank(const Shape& shape, std::size_t given, const std::string& name, SourceSpan span) {
  const auto rank = shape.rank();
  if (rank == given) return;
  throw Error(ErrorKind::Label,
              name + " has " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions") + ", but " +
                  std::to_string(given) + (given == 1 ? " label is" : " labels are") + " given",
              span, "write " + (rank == 0 ? name : example_reference(name, rank)));
}

void require_convertible(DType from, DType to, SourceSpan place) {
  if (!is_complex(from) || is_complex(to)) return;
  throw Error(
      ErrorKind::Type,
      std::string(name_of(to)) + " cannot hold complex numbers, and the result is " + std::string(name_of(from)), place,
      "take REAL, IMAG or ABS first");
}

}  // namespace eindb
