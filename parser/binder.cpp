#include "parser/binder.hpp"

#include <algorithm>
#include <set>

#include "common/error.hpp"
#include "parser/expression_binder.hpp"
#include "parser/label_scope.hpp"
#include "parser/subscript_binder.hpp"
#include "parser/tensor_scope.hpp"

namespace eindb {
namespace {

std::int64_t extent_of(const ast::Extent& extent) {
  if (const auto* integer = std::get_if<ast::Integer>(&extent.value)) return integer->value;
  throw Error(ErrorKind::Value,
              "no value is given for parameter $" + std::to_string(std::get<ast::Parameter>(extent.value).number),
              extent.span);
}

// A head as written, with the labels of its first occurrences: a label that stands twice embeds on a diagonal.
struct Head {
  Labels distinct;
  std::vector<Label> places;  // one per dimension

  bool has_diagonal() const { return places.size() != distinct.size(); }
};

class QueryBinder {
 public:
  QueryBinder(const ast::Query& query, const NameSource& names, std::optional<DType> result_type)
      : query_(query), result_type_(result_type), labels_(bound_.graph.labels()), tensors_(bound_.graph, names) {}

  BoundQuery run() {
    if (query_.path) {
      throw Error(ErrorKind::Unsupported, "USING PATH cannot be planned by this version", query_.path->span,
                  "leave it out: the optimizer orders contractions");
    }
    for (const auto& definition : query_.with) tensors_.define(definition.name, bind_definition(definition));
    const auto output = std::visit([&](const auto& body) { return bind_body(body); }, query_.body);
    if (result_type_) bound_.graph.set_dtype(output, *result_type_);
    bound_.graph.set_output(output);
    name_result_labels(output);
    return std::move(bound_);
  }

 private:
  VertexId bind_body(const ast::Definition& definition) {
    bound_.name = definition.name.text;
    return bind_definition(definition);
  }

  VertexId bind_body(const ast::Subscripts& subscripts) {
    bound_.name = "result";
    return bind_subscripts(subscripts, bound_.graph, tensors_, labels_);
  }

  VertexId bind_definition(const ast::Definition& definition) {
    for (const auto& dimension : definition.labels)
      if (dimension.extent)
        labels_.bind(dimension.label, extent_of(*dimension.extent), "the head of " + definition.name.text);
    // References give the head's labels their extents, so they come first.
    ExpressionBinder binder(bound_.graph, tensors_, labels_, definition.name.text);
    binder.bind_labels(definition.expression);
    const auto head = bind_head(definition);
    auto vertex = binder.bind(definition.expression, head.distinct);
    if (head.has_diagonal()) vertex = embed_diagonals(bound_.graph, vertex, head.distinct, head.places);
    bound_.graph.rename(vertex, definition.name.text);
    return vertex;
  }

  Head bind_head(const ast::Definition& definition) {
    Head head;
    for (const auto& dimension : definition.labels) {
      const auto* label = labels_.find(dimension.label.text);
      if (label == nullptr) {
        throw Error(ErrorKind::Label,
                    "label " + dimension.label.text + " in the head of " + definition.name.text +
                        " has no extent: no reference binds it",
                    dimension.label.span,
                    "give one, as in " + definition.name.text + "[" + dimension.label.text + " 10]");
      }
      append_distinct(head.distinct, {*label});
      head.places.push_back(*label);
    }
    return head;
  }

  // Columns need distinct names: the second i of Z[i,i] is i_2.
  void name_result_labels(VertexId output) {
    std::set<std::string> taken;
    for (const auto label : bound_.graph.vertex(output).einsum.output) {
      const auto& base = bound_.graph.labels().name(label);
      std::string name = base;
      for (int n = 2; !taken.insert(name).second; ++n) name = base + "_" + std::to_string(n);
      bound_.label_names.push_back(name);
    }
  }

  const ast::Query& query_;
  std::optional<DType> result_type_;
  BoundQuery bound_;
  LabelScope labels_;
  TensorScope tensors_;
};

}  // namespace

BoundQuery bind_query(const ast::Query& query, const NameSource& names, std::optional<DType> result_type) {
  return QueryBinder(query, names, result_type).run();
}

}  // namespace eindb
