#include "parser/binder.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "common/error.hpp"
#include "common/nearest_name.hpp"
#include "parser/contraction_binder.hpp"
#include "parser/expression_binder.hpp"
#include "parser/label_scope.hpp"
#include "parser/subscript_binder.hpp"
#include "parser/tensor_scope.hpp"

namespace eindb {
namespace {

// A head as written, with the labels of its first occurrences: a label that stands twice embeds on a diagonal.
struct Head {
  Labels distinct;
  std::vector<Label> places;  // one per dimension

  bool has_diagonal() const { return places.size() != distinct.size(); }
};

class QueryBinder {
 public:
  QueryBinder(const ast::Query& query, const NameSource& names, std::optional<DType> result_type)
      : query_(query),
        names_(names),
        result_type_(result_type),
        labels_(bound_.graph.labels()),
        tensors_(bound_.graph, names),
        parameters_(names) {}

  BoundQuery run() {
    for (const auto& item : query_.with) std::visit([&](const auto& what) { bind_item(what); }, item);
    read_path();
    const auto output = std::visit([&](const auto& body) { return bind_body(body); }, query_.body);
    if (result_type_) {
      require_convertible(bound_.graph.vertex(output).dtype, *result_type_, query_.span);
      bound_.graph.set_dtype(output, *result_type_);
    }
    bound_.graph.set_output(output);
    bound_.results.push_back({name_, label_names(output)});
    return std::move(bound_);
  }

 private:
  void bind_item(const ast::Definition& definition) {
    tensors_.define(definition.name, bind_definition(definition, false));
  }
  void bind_item(const ast::Gradient& gradient) { fail_absent(gradient.span); }
  void bind_item(const ast::Jvp& jvp) { fail_absent(jvp.span); }
  [[noreturn]] static void fail_absent(SourceSpan span) { throw Error(ErrorKind::Internal, "it is not there yet", span); }
  VertexId bind_body(const ast::ResultNames& names) { fail_absent(names.span); }
  VertexId bind_body(const ast::Gradient& gradient) { fail_absent(gradient.span); }
  VertexId bind_body(const ast::Jvp& jvp) { fail_absent(jvp.span); }
  VertexId bind_body(const ast::Updates& updates) { fail_absent(updates.span); }

  // USING PATH 'greedy' is for the optimizer; an order that the statement gives is bound as it stands.
  void read_path() {
    if (!query_.path) return;
    const auto* name = std::get_if<std::string>(&query_.path->value);
    const auto* subscripts = std::get_if<ast::Subscripts>(&query_.body);
    if (subscripts != nullptr && subscripts->nesting && (name == nullptr || *name == "left")) {
      throw Error(ErrorKind::Value, "parentheses in the subscripts and USING PATH both give an order",
                  query_.path->span, "leave one of them out");
    }
    if (name == nullptr || *name == "left") return;
    static constexpr std::array<std::string_view, 5> kNames{"left", "greedy", "optimal", "anneal", "auto"};
    if (std::find(kNames.begin(), kNames.end(), *name) == kNames.end()) {
      const auto nearest = nearest_name(*name, kNames);
      throw Error(
          ErrorKind::UnknownName, "there is no path '" + *name + "'", query_.path->span,
          nearest ? "did you mean '" + *nearest + "'?" : "use pairs, 'left', 'greedy', 'optimal', 'anneal' or 'auto'");
    }
    bound_.path_optimizer = *name;
  }

  bool gives_order() const { return query_.path && bound_.path_optimizer.empty(); }

  ContractionSteps steps(std::size_t operands) const {
    if (!gives_order()) return {};
    if (const auto* path = std::get_if<std::vector<ast::PathStep>>(&query_.path->value))
      return steps_of_path(*path, operands, query_.path->span);
    return steps_from_left(operands);
  }

  VertexId bind_body(const ast::Definition& definition) {
    name_ = definition.name.text;
    return bind_definition(definition, gives_order());
  }

  VertexId bind_body(const ast::Subscripts& subscripts) {
    name_ = "result";
    return bind_subscripts(subscripts, bound_.graph, tensors_, [&](std::size_t n) { return steps(n); });
  }

  std::int64_t extent_of(const ast::Extent& extent) const {
    const auto* parameter = std::get_if<ast::Parameter>(&extent.value);
    if (parameter == nullptr) return std::get<ast::Integer>(extent.value).value;
    const auto value = parameters_.integer(*parameter, extent.span);
    if (value < 0) throw Error(ErrorKind::Shape, "an extent cannot be " + std::to_string(value), extent.span);
    return value;
  }

  VertexId bind_definition(const ast::Definition& definition, bool in_given_order) {
    if (!calls_macro(definition.expression, names_.find_macro))
      return bind_expanded(definition, definition.expression, in_given_order);
    const auto expanded = expand_macros(definition.expression, names_.find_macro, next_scope_);
    return bind_expanded(definition, expanded, in_given_order);
  }

  VertexId bind_expanded(const ast::Definition& definition, const ast::Expression& expression, bool in_given_order) {
    for (const auto& dimension : definition.labels)
      if (dimension.extent) labels_.bind(dimension.label, extent_of(*dimension.extent), definition.name.text);
    // References give the head's labels their extents, so they come first.
    ExpressionBinder binder(bound_.graph, tensors_, labels_, parameters_, definition.name.text,
                            [&] { return macro_names(); });
    binder.bind_labels(expression);
    binder.check_names(expression);
    const auto head = bind_head(definition);
    auto vertex = in_given_order
                      ? binder.bind_contraction(
                            expression, head.distinct, [&](std::size_t n) { return steps(n); }, query_.path->span)
                      : binder.bind(expression, head.distinct);
    if (head.has_diagonal()) vertex = embed_diagonals(bound_.graph, vertex, head.distinct, head.places);
    bound_.graph.rename(vertex, definition.name.text);
    return vertex;
  }

  std::vector<std::string> macro_names() const {
    auto out = names_.macro_names();
    const auto builtin = builtin_macro_names();
    out.insert(out.end(), builtin.begin(), builtin.end());
    return out;
  }

  Head bind_head(const ast::Definition& definition) {
    Head head;
    DistinctLabels distinct;
    for (const auto& dimension : definition.labels) {
      const auto* label = labels_.find(dimension.label);
      if (label == nullptr) {
        throw Error(ErrorKind::Label,
                    "label " + dimension.label.text + " in the head of " + definition.name.text +
                        " has no extent: no reference binds it",
                    dimension.label.span, extent_hint(definition, dimension.label));
      }
      distinct.add(*label);
      head.places.push_back(*label);
    }
    head.distinct = distinct.labels();
    return head;
  }

  std::string extent_hint(const ast::Definition& definition, const ast::Identifier& label) const {
    if (const auto nearest = nearest_name(label.text, labels_.names()))
      return "did you mean " + *nearest + "? labels are told apart by case";
    return "use a label of a reference, or give it an extent, as in " + definition.name.text + "[" + label.text +
           " 10]";
  }

  // Columns need distinct names: the second i of Z[i,i] is i_2.
  std::vector<std::string> label_names(VertexId output) const {
    std::set<std::string> taken;
    std::vector<std::string> names;
    for (const auto label : bound_.graph.vertex(output).einsum.output) {
      const auto& base = bound_.graph.labels().name(label);
      std::string name = base;
      for (int n = 2; !taken.insert(name).second; ++n) name = base + "_" + std::to_string(n);
      names.push_back(name);
    }
    return names;
  }

  const ast::Query& query_;
  const NameSource& names_;
  std::optional<DType> result_type_;
  BoundQuery bound_;
  std::string name_;
  LabelScope labels_;
  TensorScope tensors_;
  ParameterScope parameters_;
  std::uint32_t next_scope_ = 1;  // of macro calls
};

}  // namespace

BoundQuery bind_query(const ast::Query& query, const NameSource& names, std::optional<DType> result_type) {
  return QueryBinder(query, names, result_type).run();
}

}  // namespace eindb
