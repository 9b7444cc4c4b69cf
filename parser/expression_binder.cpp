#include "parser/expression_binder.hpp"

#include <algorithm>
#include <cctype>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/nearest_name.hpp"
#include "parser/ast_children.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

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
  }
  return ScalarOp::Add;
}

struct LoweredAggregate {
  std::string_view word;
  Aggregate aggregate;
};

// MEAN is a SUM that is divided in the end.
std::optional<LoweredAggregate> lowered(ast::AggregateOp op) {
  switch (op) {
    case ast::AggregateOp::Sum: return LoweredAggregate{"SUM", Aggregate::Sum};
    case ast::AggregateOp::Mean: return LoweredAggregate{"MEAN", Aggregate::Sum};
    case ast::AggregateOp::Prod: return LoweredAggregate{"PROD", Aggregate::Prod};
    case ast::AggregateOp::Min: return LoweredAggregate{"MIN", Aggregate::Min};
    case ast::AggregateOp::Max: return LoweredAggregate{"MAX", Aggregate::Max};
    default: return std::nullopt;
  }
}

std::string dimension_of(const std::string& tensor, std::size_t position) {
  return "dimension " + std::to_string(position + 1) + " of " + tensor;
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

void require_rank(const Vertex& tensor, std::size_t given, const std::string& name, SourceSpan span) {
  const auto rank = tensor.bound.rank();
  if (rank == given) return;
  throw Error(ErrorKind::Label,
              name + " has " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions") + ", but " +
                  std::to_string(given) + (given == 1 ? " label is" : " labels are") + " given",
              span, "write " + (rank == 0 ? name : example_reference(name, rank)));
}

// Evaluates a constant expression made of numbers, as seeds are.
std::optional<std::int64_t> constant_integer(const ast::Expression& e) {
  if (const auto* integer = std::get_if<ast::Integer>(&e.node)) return integer->value;
  if (const auto* prefix = std::get_if<ast::Prefix>(&e.node);
      prefix != nullptr && prefix->op == ast::PrefixOp::Negate) {
    if (const auto value = constant_integer(prefix->operand.front()); value && *value != INT64_MIN) return -*value;
  }
  return std::nullopt;
}

}  // namespace

ExpressionBinder::ExpressionBinder(EinGraph& graph, TensorScope& tensors, LabelScope& labels, std::string name)
    : graph_(graph), tensors_(tensors), labels_(labels), name_(std::move(name)) {}

void ExpressionBinder::bind_labels(const ast::Expression& e) {
  if (const auto* reference = std::get_if<ast::Reference>(&e.node)) {
    const auto& tensor = graph_.vertex(tensors_.get(reference->name));
    require_rank(tensor, reference->terms.size(), reference->name.text, e.span);
    for (std::size_t d = 0; d < reference->terms.size(); ++d) {
      if (const auto* label = std::get_if<ast::Identifier>(&reference->terms[d].value)) {
        labels_.bind(*label, tensor.bound[d], dimension_of(reference->name.text, d));
        own_labels_.insert(label->text);
      }
    }
  }
  for_each_child(e, [&](const ast::Expression& child) { bind_labels(child); });
}

VertexId ExpressionBinder::bind(const ast::Expression& e, Labels head) {
  head_ = std::move(head);
  for (const auto label : head_) own_labels_.insert(graph_.labels().name(label));
  Draft draft{.inputs = {}, .labels = {}, .visible = head_, .cell = head_};
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node);
      aggregate != nullptr && aggregate->op != ast::AggregateOp::Mean) {
    return add_aggregate(*aggregate, e.span, draft, &head_);
  }
  const auto* cast = std::get_if<ast::Cast>(&e.node);
  const auto& body = cast != nullptr ? cast->operand.front() : e;
  auto lowered_body = lower(body, draft);
  require_in_head(body, free_labels(*lowered_body, draft));
  EinSum einsum{
      .inputs = {}, .output = head_, .aggregated = {}, .expression = lowered_body, .aggregate = Aggregate::None};
  const auto vertex = add_vertex(std::move(draft), std::move(einsum), e.span);
  if (cast == nullptr) return vertex;
  const auto type = parse_dtype(cast->type.text);
  if (!type) {
    throw Error(ErrorKind::Type, "there is no type " + cast->type.text, cast->type.span,
                "use FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 or INT64");
  }
  graph_.set_dtype(vertex, *type);
  return vertex;
}

ScalarPtr ExpressionBinder::lower(const ast::Expression& e, Draft& draft) {
  return std::visit([&](const auto& node) { return lower(node, e.span, draft); }, e.node);
}

ScalarPtr ExpressionBinder::lower(const ast::Integer& e, SourceSpan, Draft&) {
  return ScalarExpression::integer(e.value);
}
ScalarPtr ExpressionBinder::lower(const ast::Real& e, SourceSpan, Draft&) { return ScalarExpression::real(e.value); }

ScalarPtr ExpressionBinder::lower(const ast::Parameter& e, SourceSpan span, Draft&) {
  throw Error(ErrorKind::Value, "no value is given for parameter $" + std::to_string(e.number), span);
}

const Label* ExpressionBinder::label_named(const std::string& name) const {
  // A label of this definition hides a tensor of the same name; a label of other definitions does not.
  if (own_labels_.count(name) == 0 && tensors_.find(name)) return nullptr;
  return labels_.find(name);
}

ScalarPtr ExpressionBinder::lower(const ast::Name& e, SourceSpan span, Draft& draft) {
  if (const auto* label = label_named(e.name.text)) return ScalarExpression::label_index(*label);
  const auto vertex = tensors_.find(e.name.text);
  if (!vertex) {
    auto candidates = tensors_.known_names();
    const auto nearest = nearest_name(e.name.text, candidates);
    throw Error(ErrorKind::UnknownName, e.name.text + " is neither a label of this statement nor a tensor", span,
                nearest ? "did you mean " + *nearest + "?"
                        : "a label that is used as a number needs an extent: from a reference, or in the head as '" +
                              e.name.text + " 10'");
  }
  require_rank(graph_.vertex(*vertex), 0, e.name.text, span);
  return operand(*vertex, {}, draft);
}

ScalarPtr ExpressionBinder::lower(const ast::Reference& e, SourceSpan span, Draft& draft) {
  const auto tensor = tensors_.get(e.name);
  Labels labels;
  bool constants = false;
  for (const auto& term : e.terms) {
    if (const auto* label = std::get_if<ast::Identifier>(&term.value)) labels.push_back(*labels_.find(label->text));
    else if (std::holds_alternative<ast::Integer>(term.value)) constants = true;
    else lower(std::get<ast::Parameter>(term.value), span, draft);
  }
  if (constants) {
    const auto selected = add_selection(tensor, e, labels);
    return operand(selected, std::move(labels), draft);
  }
  return operand(tensor, std::move(labels), draft);
}

VertexId ExpressionBinder::add_selection(VertexId tensor, const ast::Reference& e, Labels& labels) {
  // Every constant place gets a label of its own, of which one index is kept.
  const auto bound = graph_.vertex(tensor).bound;
  EinSum einsum{.inputs = {{}}, .output = {}, .aggregated = {}, .expression = nullptr, .aggregate = Aggregate::Sum};
  ScalarPtr wanted;
  for (std::size_t d = 0; d < e.terms.size(); ++d) {
    const auto* constant = std::get_if<ast::Integer>(&e.terms[d].value);
    if (constant == nullptr) {
      einsum.inputs[0].push_back(*labels_.find(std::get<ast::Identifier>(e.terms[d].value).text));
      continue;
    }
    if (constant->value < 0 || constant->value >= bound[d]) {
      throw Error(ErrorKind::Value,
                  "index " + std::to_string(constant->value) + " lies outside " + dimension_of(e.name.text, d) +
                      ", which has extent " + std::to_string(bound[d]),
                  e.terms[d].span, bound[d] > 0 ? "indices go from 0 to " + std::to_string(bound[d] - 1) : "");
    }
    const auto label = labels_.fresh("at" + std::to_string(constant->value), bound[d]);
    einsum.inputs[0].push_back(label);
    einsum.aggregated.push_back(label);
    auto here = ScalarExpression::call(
        ScalarOp::Equal, {ScalarExpression::label_index(label), ScalarExpression::integer(constant->value)});
    wanted = wanted == nullptr ? here : ScalarExpression::call(ScalarOp::And, {wanted, here});
  }
  append_distinct(einsum.output, difference(einsum.inputs[0], einsum.aggregated));
  einsum.expression =
      ScalarExpression::call(ScalarOp::Case, {wanted, ScalarExpression::operand(0), ScalarExpression::integer(0)});
  labels = einsum.output;
  return graph_.add(make_vertex(graph_, next_name(), {tensor}, std::move(einsum)));
}

ScalarPtr ExpressionBinder::operand(VertexId vertex, Labels labels, Draft& draft) {
  for (std::size_t n = 0; n < draft.inputs.size(); ++n)
    if (draft.inputs[n] == vertex && draft.labels[n] == labels) return ScalarExpression::operand(n);
  draft.inputs.push_back(vertex);
  draft.labels.push_back(std::move(labels));
  return ScalarExpression::operand(draft.inputs.size() - 1);
}

ScalarPtr ExpressionBinder::lower(const ast::Aggregate& e, SourceSpan span, Draft& draft) {
  const auto vertex = add_aggregate(e, span, draft, nullptr);
  const auto labels = graph_.vertex(vertex).einsum.output;
  auto value = operand(vertex, labels, draft);
  if (e.op != ast::AggregateOp::Mean) return value;
  const auto count = Shape(graph_.labels().extents(aggregated_labels(e, draft.visible))).element_count();
  return ScalarExpression::call(ScalarOp::Divide, {std::move(value), ScalarExpression::integer(count)});
}

VertexId ExpressionBinder::add_aggregate(const ast::Aggregate& e, SourceSpan span, const Draft& outer,
                                         const Labels* output) {
  const auto how = lowered(e.op);
  if (!how) {
    throw Error(ErrorKind::Unsupported, "this aggregate cannot be computed by this version", e.op_span,
                "SUM, PROD, MIN, MAX and MEAN are there");
  }
  const auto aggregated = aggregated_labels(e, outer.visible);
  for (const auto label : aggregated) {
    if (output != nullptr && contains(*output, label)) {
      throw Error(ErrorKind::Label, "label " + graph_.labels().name(label) + " is aggregated and in the head", span,
                  "take it out of the head or out of the brackets of " + std::string(how->word));
    }
  }
  Draft inner{.inputs = {}, .labels = {}, .visible = outer.visible, .cell = outer.cell};
  append_distinct(inner.visible, aggregated);
  append_distinct(inner.cell, aggregated);
  auto expression = lower(e.argument.front(), inner);

  const auto free = difference(free_labels(*expression, inner), aggregated);
  EinSum einsum{.inputs = {},
                .output = {},
                .aggregated = aggregated,
                .expression = expression,
                .aggregate = aggregated.empty() ? Aggregate::None : how->aggregate};
  if (output != nullptr) {
    require_in_head(e.argument.front(), free);
    einsum.output = *output;
  } else {
    // In the order of the head, then of first occurrence.
    for (const auto label : head_)
      if (contains(free, label)) einsum.output.push_back(label);
    append_distinct(einsum.output, free);
  }
  const bool ordered = how->aggregate == Aggregate::Min || how->aggregate == Aggregate::Max;
  const auto vertex = add_vertex(std::move(inner), std::move(einsum), span);
  if (ordered && is_complex(graph_.vertex(vertex).compute_dtype)) {
    throw Error(ErrorKind::Type, std::string(how->word) + " is not defined for complex numbers", span,
                "take REAL, IMAG or ABS first");
  }
  return vertex;
}

Labels ExpressionBinder::free_labels(const ScalarExpression& lowered_body, const Draft& draft) {
  Labels free;
  for (const auto& labels : draft.labels) append_distinct(free, labels);
  append_distinct(free, index_labels_of(lowered_body));
  return free;
}

VertexId ExpressionBinder::add_vertex(Draft draft, EinSum einsum, SourceSpan span) {
  einsum.inputs = std::move(draft.labels);
  return with_place(
      span, [&] { return graph_.add(make_vertex(graph_, next_name(), std::move(draft.inputs), std::move(einsum))); });
}

ScalarPtr ExpressionBinder::lower(const ast::Call& e, SourceSpan span, Draft& draft) {
  const auto word = upper(e.function.text);
  if (word == "RANDOM") return lower_random(e, Kind::Uniform, draft);
  if (word == "RANDN") return lower_random(e, Kind::Normal, draft);
  const auto op = find_scalar_function(e.function.text);
  if (!op) {
    std::vector<std::string> candidates{"RANDOM", "RANDN", "SUM", "PROD", "MIN", "MAX", "MEAN"};
    for (const auto name : scalar_function_names()) candidates.emplace_back(name);
    const auto nearest = nearest_name(e.function.text, candidates);
    throw Error(ErrorKind::UnknownName, "there is no function " + e.function.text, e.function.span,
                nearest ? "did you mean " + *nearest + "?" : "");
  }
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

ScalarPtr ExpressionBinder::lower_random(const ast::Call& e, Kind kind, const Draft& draft) {
  const auto seed = e.arguments.size() == 1 ? constant_integer(e.arguments.front()) : std::nullopt;
  if (!seed) {
    throw Error(ErrorKind::Value, upper(e.function.text) + " takes one integer, the seed",
                e.arguments.empty() ? e.function.span : e.arguments.front().span,
                "write " + upper(e.function.text) + "(1)");
  }
  return ScalarExpression::random(kind, static_cast<std::uint64_t>(*seed), draft.cell);
}

ScalarPtr ExpressionBinder::lower(const ast::Prefix& e, SourceSpan, Draft& draft) {
  auto value = lower(e.operand.front(), draft);
  if (e.op == ast::PrefixOp::Not) return ScalarExpression::call(ScalarOp::Not, {std::move(value)});
  if (value->kind() == Kind::Integer && value->integer_value() != INT64_MIN)
    return ScalarExpression::integer(-value->integer_value());
  if (value->kind() == Kind::Real) return ScalarExpression::real(-value->real_value());
  return ScalarExpression::call(ScalarOp::Negate, {std::move(value)});
}

ScalarPtr ExpressionBinder::lower(const ast::Infix& e, SourceSpan, Draft& draft) {
  // From left to right; a run of + or of * is one call. Long sums take their subtractions as negated terms, so
  // that the expression stays flat.
  constexpr std::size_t kLongChain = 64;
  const bool long_sum = e.operators.size() > kLongChain &&
                        (e.operators.front() == ast::InfixOp::Add || e.operators.front() == ast::InfixOp::Subtract);
  auto result = lower(e.operands.front(), draft);
  std::size_t n = 0;
  while (n < e.operators.size()) {
    const auto run = e.operators[n];
    const auto op = long_sum ? ScalarOp::Add : scalar_op(run);
    const bool flat = op == ScalarOp::Add || op == ScalarOp::Multiply;
    std::vector<ScalarPtr> arguments{std::move(result)};
    do {
      auto next = lower(e.operands[n + 1], draft);
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
    auto when = lower(branch.when, draft);
    if (!e.subject.empty())
      when = ScalarExpression::call(ScalarOp::Equal, {lower(e.subject.front(), draft), std::move(when)});
    arguments.push_back(std::move(when));
    arguments.push_back(lower(branch.then, draft));
  }
  arguments.push_back(lower(e.otherwise.front(), draft));
  return ScalarExpression::call(ScalarOp::Case, std::move(arguments));
}

ScalarPtr ExpressionBinder::lower(const ast::Cast& e, SourceSpan, Draft& draft) {
  // The conversion is a vertex's own: its result type.
  const auto& body = e.operand.front();
  Labels free;
  collect_free_labels(body, draft.visible, free);
  Labels output;
  for (const auto label : head_)
    if (contains(free, label)) output.push_back(label);
  append_distinct(output, free);
  ExpressionBinder inner(graph_, tensors_, labels_, next_name());
  inner.own_labels_ = own_labels_;
  ast::Expression whole{.node = e, .span = body.span};
  return operand(inner.bind(whole, output), output, draft);
}

void ExpressionBinder::collect_free_labels(const ast::Expression& e, const Labels& visible, Labels& out) const {
  if (const auto* reference = std::get_if<ast::Reference>(&e.node)) {
    for (const auto& term : reference->terms)
      if (const auto* label = std::get_if<ast::Identifier>(&term.value))
        append_distinct(out, {*labels_.find(label->text)});
  } else if (const auto* name = std::get_if<ast::Name>(&e.node)) {
    if (const auto* label = label_named(name->name.text)) append_distinct(out, {*label});
  } else if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node)) {
    Labels inside;
    collect_free_labels(aggregate->argument.front(), visible, inside);
    append_distinct(out, difference(inside, aggregated_labels(*aggregate, visible)));
  } else if (const auto* call = std::get_if<ast::Call>(&e.node);
             call != nullptr && (upper(call->function.text) == "RANDOM" || upper(call->function.text) == "RANDN")) {
    append_distinct(out, visible);
  } else {
    for_each_child(e, [&](const ast::Expression& child) { collect_free_labels(child, visible, out); });
  }
}

Labels ExpressionBinder::aggregated_labels(const ast::Aggregate& e, const Labels& visible) const {
  if (!e.labels) {
    Labels inside;
    collect_free_labels(e.argument.front(), visible, inside);
    return difference(inside, visible);
  }
  Labels out;
  for (const auto& name : *e.labels) {
    const auto* label = labels_.find(name.text);
    if (label == nullptr) {
      throw Error(ErrorKind::Label, "label " + name.text + " occurs nowhere in this statement", name.span,
                  "aggregate over a label of a reference");
    }
    if (contains(out, *label)) throw Error(ErrorKind::Label, "label " + name.text + " is given twice", name.span);
    out.push_back(*label);
  }
  return out;
}

void ExpressionBinder::require_in_head(const ast::Expression& e, const Labels& used) const {
  const auto missing = difference(used, head_);
  if (missing.empty()) return;
  const auto& name = graph_.labels().name(missing.front());
  const auto head = graph_.labels().join_names(head_);
  throw Error(ErrorKind::Label, "label " + name + " is neither in the head of " + name_ + " nor aggregated",
              find_label(e, name),
              "aggregate it, as in SUM[" + name + "](...), or add it to the head: " + name_ + "[" + head +
                  (head.empty() ? "" : ",") + name + "]");
}

SourceSpan ExpressionBinder::find_label(const ast::Expression& e, const std::string& name) const {
  if (const auto* reference = std::get_if<ast::Reference>(&e.node)) {
    for (const auto& term : reference->terms)
      if (const auto* label = std::get_if<ast::Identifier>(&term.value); label != nullptr && label->text == name)
        return term.span;
  }
  if (const auto* used = std::get_if<ast::Name>(&e.node); used != nullptr && used->name.text == name) return e.span;
  SourceSpan found = e.span;
  for_each_child(e, [&](const ast::Expression& child) {
    if (found != e.span) return;
    const auto inside = find_label(child, name);
    if (inside != child.span || std::holds_alternative<ast::Name>(child.node)) found = inside;
  });
  return found;
}

std::string ExpressionBinder::next_name() {
  ++made_;
  return name_ + "." + std::to_string(made_);
}

}  // namespace eindb
