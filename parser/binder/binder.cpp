#include "parser/binder/binder.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "parser/binder/contraction_binder.hpp"
#include "parser/binder/derivative_binder.hpp"
#include "parser/binder/expression_binder.hpp"
#include "parser/binder/label_scope.hpp"
#include "parser/binder/merged_labels.hpp"
#include "parser/binder/own_labels.hpp"
#include "parser/binder/result_binder.hpp"
#include "parser/binder/subscript_binder.hpp"
#include "parser/binder/tensor_scope.hpp"

namespace eindb {
namespace {

// A head as written, and its distinct labels by first occurrence; a repeated label embeds on a diagonal.
struct Head {
  Labels distinct;
  std::vector<Label> places;  // one per dimension

  bool has_diagonal() const { return places.size() != distinct.size(); }
};

class QueryBinder {
 public:
  QueryBinder(const ast::Query& query, const NameSource& names)
      : query_(query),
        names_(names),
        labels_(bound_.graph.labels()),
        tensors_(bound_.graph, names),
        parameters_(names) {}

  BoundQuery run(std::optional<DType> result_type) {
    bind();
    if (result_type)
      for (auto& result : results_) give_type(result, *result_type);
    return finish();
  }

  BoundQuery run(const std::vector<ast::Identifier>& wanted) {
    bind();
    std::vector<Result> chosen;
    for (const auto& name : wanted) chosen.push_back(find_result(name));
    results_ = std::move(chosen);
    return finish();
  }

 private:
  struct Result {
    std::string name;
    VertexId vertex;
  };

  void bind() {
    for (const auto& item : query_.with) std::visit([&](const auto& what) { bind_item(what); }, item);
    read_path();
    std::visit([&](const auto& body) { bind_body(body); }, query_.body);
  }

  // ---- Results of a query

  Result find_result(const ast::Identifier& name) const {
    const auto is = [&](const Result& result) { return equal_ignoring_case(result.name, name.text); };
    if (const auto found = std::find_if(results_.begin(), results_.end(), is); found != results_.end()) return *found;
    if (const auto definition = tensors_.find_definition(name)) return {name.text, *definition};
    auto known = tensors_.definition_names();
    for (const auto& result : results_) known.push_back(result.name);
    const auto nearest = nearest_name(name.text, known);
    throw Error(ErrorKind::UnknownName, "the query has no result " + name.text + ", and defines none", name.span,
                nearest ? "did you mean " + *nearest + "?" : "its first result is " + results_.front().name);
  }

  // A vertex with readers keeps its type; the result is a copy with the wanted type.
  void give_type(Result& result, DType type) {
    const auto& vertex = bound_.graph.vertex(result.vertex);
    if (vertex.dtype == type) return;
    require_convertible(vertex.dtype, type, query_.span);
    result.vertex = with_result_type(bound_.graph, result.vertex, type, result.name);
  }

  BoundQuery finish() {
    std::vector<VertexId> outputs;
    for (const auto& [name, vertex] : results_) {
      bound_.results.push_back({name, label_names(vertex), names_of_indices(vertex)});
      outputs.push_back(as_output(vertex, name, outputs));
    }
    bound_.graph.set_outputs(std::move(outputs));
    if (query_.partition)
      for (const auto& cut : query_.partition->cuts) read_cut(cut);
    return std::move(bound_);
  }

  void read_cut(const ast::CutsClause::Cut& cut) {
    std::vector<std::string> known;
    for (const auto& vertex : bound_.graph.vertices()) {
      if (vertex.is_input()) continue;
      for (const auto label : vertex.einsum.labels()) {
        known.push_back(bound_.graph.labels().name(label));
        const auto extent = bound_.graph.labels().extent(label);
        if (known.back() == cut.label.text && extent < cut.parts)
          throw Error(ErrorKind::Label,
                      "label " + cut.label.text + " has " + std::to_string(extent) +
                          " indices, which are not cut into " + std::to_string(cut.parts) + " parts",
                      cut.label.span);
      }
    }
    if (std::find(known.begin(), known.end(), cut.label.text) == known.end()) {
      const auto nearest = nearest_name(cut.label.text, known);
      throw Error(ErrorKind::Label, "the query has no label " + cut.label.text, cut.label.span,
                  nearest ? "did you mean " + *nearest + "?" : "");
    }
    bound_.cuts.push_back(cut.label.text + " " + std::to_string(cut.parts));
  }

  // Each output needs a computed vertex of its own.
  VertexId as_output(VertexId vertex, const std::string& name, const std::vector<VertexId>& before) {
    const bool taken = std::find(before.begin(), before.end(), vertex) != before.end();
    return taken || bound_.graph.vertex(vertex).is_input() ? add_copy(bound_.graph, vertex, name) : vertex;
  }

  std::vector<std::string> label_names(VertexId vertex) const {
    const auto derivative = derivative_labels_.find(vertex);
    return derivative != derivative_labels_.end() ? derivative->second.label_names
                                                  : dimension_names(bound_.graph, vertex);
  }

  DimensionNames names_of_indices(VertexId vertex) const {
    const auto derivative = derivative_labels_.find(vertex);
    return derivative != derivative_labels_.end() ? derivative->second.index_names : index_names(bound_.graph, vertex);
  }

  // ---- Items and bodies

  void bind_item(const ast::Definition& definition) {
    tensors_.define(definition.name, bind_definition(definition, false));
  }
  void bind_item(const ast::MatrixResults& results) {
    const auto call = expanded(results.call);
    const auto* function = find_matrix_function(call);
    if (function == nullptr || function->results != results.names.size()) {
      throw Error(
          ErrorKind::Value,
          function == nullptr ? "several results come from QR, SVD or EIGH"
                              : std::string(function->word) + " has " + std::to_string(function->results) + " results",
          results.span, "as in " + std::string(function == nullptr ? "(Q, R) = QR(A[i,j])" : function->example));
    }
    auto binder = expression_binder(results.names.front().text);
    const auto vertices = binder.bind_matrices(call);
    for (std::size_t n = 0; n < vertices.size(); ++n) {
      bound_.graph.rename(vertices[n], results.names[n].text);
      tensors_.define(results.names[n], vertices[n]);
    }
  }
  void bind_item(const ast::Gradient& gradient) { bind_derivatives(gradient, false); }
  void bind_item(const ast::Jvp& jvp) { bind_derivatives(jvp, false); }

  void bind_body(const ast::Definition& definition) {
    results_.push_back({definition.name.text, bind_definition(definition, gives_order())});
  }

  void bind_body(const ast::Subscripts& subscripts) {
    const auto vertex = bind_subscripts(subscripts, bound_.graph, tensors_, [&](std::size_t n) { return steps(n); });
    results_.push_back({"result", vertex});
  }

  void bind_body(const ast::ResultNames& results) {
    require_no_order();
    for (const auto& name : results.names) results_.push_back({name.text, tensors_.get(name)});
  }

  void bind_body(const ast::Gradient& gradient) { results_ = bind_derivatives(gradient, gives_order()); }
  void bind_body(const ast::Jvp& jvp) { results_ = bind_derivatives(jvp, gives_order()); }

  void bind_body(const ast::Updates& updates) {
    if (updates.definitions.size() > 1) require_no_order();
    std::vector<Result> indices;
    for (std::size_t n = 0; n < updates.definitions.size(); ++n) {
      const auto& definition = updates.definitions[n];
      const auto tensor = tensors_.get_stored(definition.name);
      const auto& cells = updates.regions[n].cells;
      const auto vertex = cells.empty() ? bind_update(definition, tensor)
                                        : bind_region(definition, cells.front(), tensor, [&](VertexId index) {
                                            indices.push_back({bound_.graph.vertex(index).name, index});
                                            return updates.definitions.size() + indices.size() - 1;
                                          });
      if (!cells.empty()) {
        bound_.regions.back().result = n;
        bound_.regions.back().adds = updates.regions[n].adds;
      }
      results_.push_back({tensor.name, vertex});
    }
    results_.insert(results_.end(), indices.begin(), indices.end());
  }

  // ---- Derivatives

  VertexId bind_derived(const ast::Derived& of, bool in_given_order) {
    if (const auto* definition = std::get_if<ast::Definition>(&of)) {
      const auto vertex = bind_definition(*definition, in_given_order);
      tensors_.define(definition->name, vertex);
      return vertex;
    }
    if (in_given_order) require_no_order();
    const auto& name = std::get<ast::Identifier>(of);
    const auto vertex = tensors_.get(name);
    return bound_.graph.vertex(vertex).is_input() ? add_copy(bound_.graph, vertex, name.text) : vertex;
  }

  std::vector<Result> bind_derivatives(const ast::Gradient& gradient, bool in_given_order) {
    const auto loss = bind_derived(gradient.of, in_given_order);
    return define(bind_gradient(gradient, loss, bound_.graph, tensors_));
  }

  std::vector<Result> bind_derivatives(const ast::Jvp& jvp, bool in_given_order) {
    const auto derived = bind_derived(jvp.of, in_given_order);
    return define({bind_jvp(jvp, derived, bound_.graph, tensors_)});
  }

  std::vector<Result> define(const std::vector<BoundDerivative>& derivatives) {
    std::vector<Result> results;
    for (const auto& derivative : derivatives) {
      tensors_.define(derivative.name, derivative.vertex);
      derivative_labels_.emplace(derivative.vertex, derivative);
      results.push_back({derivative.name.text, derivative.vertex});
    }
    return results;
  }

  // ---- Updates

  static void require_stored(const ast::Definition& definition, const InputTensor& tensor) {
    if (!tensor.attached) return;
    throw Error(ErrorKind::ReadOnly, definition.name.text + " is in the memory of a program", definition.name.span,
                "UPDATE TENSOR changes tensors that are stored");
  }

  VertexId converted_to_stored(const ast::Definition& definition, VertexId vertex, const InputTensor& tensor) {
    require_convertible(bound_.graph.vertex(vertex).dtype, tensor.dtype, definition.span);
    return with_result_type(bound_.graph, vertex, tensor.dtype, definition.name.text);
  }

  // The head's labels have the extents of the tensor, so they need no other: W[a,h] = 0.
  VertexId bind_update(const ast::Definition& definition, const InputTensor& tensor) {
    const auto& shape = tensor.grid.shape();
    require_stored(definition, tensor);
    require_rank(shape, definition.labels.size(), definition.name.text, definition.head_span);
    for (std::size_t d = 0; d < definition.labels.size(); ++d)
      labels_.bind(definition.labels[d].label, shape[d], definition.name.text, d, tensor.names.at(d));
    return converted_to_stored(definition, bind_definition(definition, gives_order()), tensor);
  }

  // The values of the cells of a region, whose labels number them.
  VertexId bind_region(const ast::Definition& definition, const ast::Expression& region, const InputTensor& tensor,
                       const std::function<std::size_t(VertexId)>& add_result) {
    require_stored(definition, tensor);
    const auto& shape = tensor.grid.shape();
    const auto cells = expanded(region);
    const auto value = expanded(definition.expression);
    const auto& reference = std::get<ast::Reference>(cells.node);
    auto binder = expression_binder(definition.name.text);
    const NamedShape bound{shape, tensor.names};
    binder.bind_region_labels(reference, bound, region.span, value);
    binder.check_names(value);
    auto vertex = bind_value(binder, value, binder.region_labels(reference), gives_order());
    bound_.graph.rename(vertex, definition.name.text);
    vertex = converted_to_stored(definition, vertex, tensor);
    bound_.regions.push_back({.places = binder.bind_places(reference, bound, add_result)});
    return vertex;
  }

  // ---- Orders of contraction

  // USING PATH 'greedy' is left to the optimizer; an explicit order is bound as given.
  void read_path() {
    if (!query_.path) return;
    const auto* name = std::get_if<std::string>(&query_.path->value);
    const auto* subscripts = std::get_if<ast::Subscripts>(&query_.body);
    if (subscripts != nullptr && subscripts->nesting && (name == nullptr || *name == "left")) {
      throw Error(ErrorKind::Value, "parentheses in the subscripts and USING PATH both give an order",
                  query_.path->span, "leave one of them out");
    }
    if (name == nullptr || *name == "left") {
      if (query_.path->weight)
        throw Error(ErrorKind::Value, "WITH WEIGHT is for an order that eindb looks for", query_.path->span,
                    "leave it out, or write USING PATH 'auto' WITH WEIGHT");
      return;
    }
    static constexpr std::array<std::string_view, 5> kNames{"left", "greedy", "optimal", "anneal", "auto"};
    if (std::find(kNames.begin(), kNames.end(), *name) == kNames.end()) {
      const auto nearest = nearest_name(*name, kNames);
      throw Error(
          ErrorKind::UnknownName, "there is no path '" + *name + "'", query_.path->span,
          nearest ? "did you mean '" + *nearest + "'?" : "use pairs, 'left', 'greedy', 'optimal', 'anneal' or 'auto'");
    }
    bound_.path_optimizer = *name;
    bound_.path_weight = query_.path->weight;
  }

  bool gives_order() const { return query_.path && bound_.path_optimizer.empty(); }

  ContractionSteps steps(std::size_t operands) const {
    if (!gives_order()) return {};
    if (const auto* path = std::get_if<std::vector<ast::PathStep>>(&query_.path->value))
      return steps_of_path(*path, operands, query_.path->span);
    return steps_from_left(operands);
  }

  // An explicit order applies to one definition only, the one in the body.
  void require_no_order() const {
    if (!gives_order()) return;
    throw Error(ErrorKind::Value, "USING PATH gives the order of one contraction, and the body has no one definition",
                query_.path->span, "write the definition there; USING PATH 'greedy' is for all of a query");
  }

  // ---- Definitions

  std::int64_t extent_of(const ast::Extent& extent) const {
    if (const auto* integer = std::get_if<ast::Integer>(&extent.value)) return integer->value;
    const auto* parameter = std::get_if<ast::Parameter>(&extent.value);
    CHECK(parameter != nullptr, "the variable of a loop has its value when the body is bound");
    const auto value = parameters_.integer(*parameter, extent.span);
    if (value < 0) throw Error(ErrorKind::Shape, "an extent cannot be " + std::to_string(value), extent.span);
    return value;
  }

  ast::Expression expanded(const ast::Expression& e) {
    auto whole = calls_macro(e, names_.find_macro) ? expand_macros(e, names_.find_macro, next_scope_) : e;
    return concatenates(whole) ? with_own_labels(std::move(whole), next_scope_) : whole;
  }

  VertexId bind_definition(const ast::Definition& definition, bool in_given_order) {
    if (!calls_macro(definition.expression, names_.find_macro) && !concatenates(definition.expression))
      return bind_expanded(definition, definition.expression, in_given_order);
    return bind_expanded(definition, expanded(definition.expression), in_given_order);
  }

  ExpressionBinder expression_binder(const std::string& name) {
    return {bound_.graph, tensors_, labels_, parameters_, name, [this] { return macro_names(); }, next_scope_++};
  }

  VertexId bind_value(ExpressionBinder& binder, const ast::Expression& e, Labels labels, bool in_given_order) {
    if (!in_given_order) return binder.bind(e, std::move(labels));
    return binder.bind_contraction(
        e, std::move(labels), [&](std::size_t n) { return steps(n); }, query_.path->span);
  }

  VertexId bind_expanded(const ast::Definition& definition, const ast::Expression& expression, bool in_given_order) {
    for (const auto& dimension : definition.labels)
      if (dimension.extent) labels_.bind(dimension.label, extent_of(*dimension.extent), definition.name.text);
    // References come first, since they determine the extents of the head's labels.
    auto binder = expression_binder(definition.name.text);
    if (find_matrix_function(expression) != nullptr) {
      if (in_given_order) require_no_order();
      return finish_definition(definition, binder.bind_matrix(expression, definition.labels));
    }
    binder.bind_labels(expression, definition.labels);
    binder.check_names(expression);
    const auto head = bind_head(definition);
    auto vertex = bind_value(binder, expression, head.distinct, in_given_order);
    if (head.has_diagonal()) vertex = embed_diagonals(bound_.graph, vertex, head.distinct, head.places);
    return finish_definition(definition, vertex);
  }

  // Merges labels of the head, and names the result.
  VertexId finish_definition(const ast::Definition& definition, VertexId vertex) {
    bound_.graph.rename(vertex, definition.name.text);
    if (definition.merged.empty()) return vertex;
    return with_place(definition.head_span, [&] { return merge_labels(bound_.graph, vertex, definition.merged); });
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

  const ast::Query& query_;
  const NameSource& names_;
  BoundQuery bound_;
  std::vector<Result> results_;
  std::map<VertexId, BoundDerivative> derivative_labels_;
  LabelScope labels_;
  TensorScope tensors_;
  ParameterScope parameters_;
  std::uint32_t next_scope_ = 1;  // numbers the macro calls
};

}  // namespace

BoundQuery bind_query(const ast::Query& query, const NameSource& names, std::optional<DType> result_type) {
  return QueryBinder(query, names).run(result_type);
}

BoundQuery bind_query(const ast::Query& query, const NameSource& names, const std::vector<ast::Identifier>& wanted) {
  return QueryBinder(query, names).run(wanted);
}

}  // namespace eindb
