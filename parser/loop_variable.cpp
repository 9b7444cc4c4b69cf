#include "parser/loop_variable.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "parser/ast_children.hpp"

namespace eindb {
namespace {

// Rewrites a statement in place, node by node. Kinds of nodes not listed here cannot contain the variable.
class Replacement {
 public:
  explicit Replacement(const LoopVariable& variable)
      : variable_(variable), digits_(std::to_string(variable.value)), mark_("${" + variable.name.text + "}") {}

  // ---- Statements

  void rewrite(ast::Statement& statement) {
    std::visit([&](auto& node) { rewrite(node); }, statement.node);
  }

  template <class Node>
  void rewrite(Node& /*node*/) {}

  void rewrite(ast::CreateTensor& create) {
    rewrite(create.name);
    if (create.dimensions) all(*create.dimensions);
    std::visit([&](auto& source) { rewrite(source); }, create.source);
  }
  void rewrite(ast::DeclaredDimension& declared) {
    rewrite(declared.dimension);
    if (declared.names) std::visit([&](auto& source) { rewrite(source); }, declared.names->source);
  }
  void rewrite(std::vector<std::string>& names) { all(names); }
  void rewrite(ast::NamesClause::Calendar& calendar) {
    for (auto* text : {&calendar.first, &calendar.last, &calendar.step}) rewrite(*text);
  }
  void rewrite(ast::CreateTensors& create) {
    all(create.names);
    rewrite(create.query);
  }
  void rewrite(ast::UpdateTensor& update) { rewrite(update.query); }
  void rewrite(ast::DropTensor& drop) { all(drop.names); }
  void rewrite(ast::Backup& backup) { rewrite(backup.path); }
  void rewrite(ast::AttachDatabase& attach) { rewrite(attach.path); }
  void rewrite(ast::AlterTensor& alter) {
    rewrite(alter.name);
    std::visit([&](auto& change) { rewrite(change); }, alter.change);
  }
  void rewrite(ast::AnalyzeTensor& analyze) {
    if (analyze.name) rewrite(*analyze.name);
  }
  void rewrite(ast::Describe& describe) { rewrite(describe.name); }
  void rewrite(ast::ShowFileTensors& show) {
    rewrite(show.path);
    all(show.options);
  }
  void rewrite(ast::CopyAllFrom& copy) {
    rewrite(copy.path);
    all(copy.options);
  }
  void rewrite(ast::CopyFrom& copy) {
    rewrite(copy.tensor);
    rewrite(copy.path);
    all(copy.options);
  }
  void rewrite(ast::CopyTo& copy) {
    std::visit([&](auto& source) { rewrite(source); }, copy.source);
    rewrite(copy.path);
    all(copy.options);
  }
  void rewrite(ast::Option& option) {
    if (option.value) rewrite(*option.value);
  }
  void rewrite(ast::Literal& literal) {
    if (auto* text = std::get_if<std::string>(&literal.value)) rewrite(*text);
  }
  void rewrite(ast::InsertInto& insert) {
    rewrite(insert.tensor);
    if (insert.along) rewrite(*insert.along);
    for (auto& row : insert.rows)
      for (auto& value : row.values) rewrite_constant(value);
    if (insert.query) rewrite(*insert.query);
    if (insert.appended) rewrite(*insert.appended);
  }
  void rewrite(ast::ExtendClause& extend) { all(extend.dimensions); }
  void rewrite(ast::TypeClause&) {}
  void rewrite(ast::LabelRenaming& renaming) {
    rewrite(renaming.label);
    rewrite(renaming.new_name);
  }
  void rewrite(ast::Explain& explain) { rewrite(explain.query); }
  void rewrite(ast::Set& set) { rewrite(set.value); }
  void rewrite(ast::Execute& execute) {
    for (auto& argument : execute.arguments) {
      if (auto* expression = std::get_if<ast::Expression>(&argument)) rewrite_constant(*expression);
      else if (auto* literal = std::get_if<ast::Literal>(&argument)) rewrite(*literal);
    }
  }
  void rewrite(ast::Sql& sql) {
    for (auto& embedded : sql.queries) rewrite(embedded.query);
  }
  void rewrite(ast::Repeat& repeat) {
    rewrite(repeat.count);
    if (repeat.until) rewrite(*repeat.until);
    if (repeat.commit_every) rewrite(*repeat.commit_every);
    for (auto& statement : repeat.body) rewrite(statement);
  }

  // ---- Queries

  void rewrite(ast::Query& query) {
    for (auto& item : query.with) std::visit([&](auto& node) { rewrite(node); }, item);
    std::visit([&](auto& body) { rewrite(body); }, query.body);
  }
  void rewrite(ast::Definition& definition) {
    rewrite(definition.name);
    all(definition.labels);
    rewrite(definition.expression);
  }
  void rewrite(ast::Subscripts& subscripts) { all(subscripts.operands); }
  void rewrite(ast::ResultNames& results) { all(results.names); }
  void rewrite(ast::MatrixResults& results) {
    all(results.names);
    rewrite(results.call);
  }
  void rewrite(ast::Updates& updates) {
    all(updates.definitions);
    for (auto& region : updates.regions) all(region.cells);
  }
  void rewrite(ast::Gradient& gradient) {
    std::visit([&](auto& of) { rewrite(of); }, gradient.of);
    for (auto& variable : gradient.variables) {
      rewrite(variable.variable);
      if (variable.name) rewrite(*variable.name);
    }
  }
  void rewrite(ast::Jvp& jvp) {
    std::visit([&](auto& of) { rewrite(of); }, jvp.of);
    for (auto& direction : jvp.directions) {
      rewrite(direction.variable);
      rewrite(direction.tangent);
    }
    if (jvp.name) rewrite(*jvp.name);
  }
  void rewrite(ast::Dimension& dimension) {
    rewrite(dimension.label);
    if (dimension.extent) rewrite(*dimension.extent);
  }
  template <class Number>  // an ast::Extent or ast::RangeBound
  void rewrite_number(Number& extent) {
    const auto* name = std::get_if<ast::Identifier>(&extent.value);
    if (name != nullptr && is_variable(*name)) extent.value = ast::Integer{variable_.value};
  }
  void rewrite(ast::Extent& extent) { rewrite_number(extent); }
  void rewrite(ast::RangeBound& bound) { rewrite_number(bound); }

  // ---- Expressions

  void rewrite(ast::Expression& e) {
    if (const auto* name = std::get_if<ast::Name>(&e.node); name != nullptr && is_variable(name->name)) {
      e.node = number_;
      return;
    }
    if (auto* name = std::get_if<ast::Name>(&e.node)) rewrite(name->name);
    else if (auto* reference = std::get_if<ast::Reference>(&e.node)) rewrite(*reference);
    else if (auto* aggregate = std::get_if<ast::Aggregate>(&e.node); aggregate != nullptr && aggregate->labels)
      all(*aggregate->labels);
    rewrite_children(e, [&](ast::Expression& child) { rewrite(child); });
  }

  // Constants outside of queries, on which no plan depends.
  void rewrite_constant(ast::Expression& e) {
    const auto expression = std::exchange(number_, ast::Integer{variable_.value});
    rewrite(e);
    number_ = expression;
  }

  void rewrite(ast::Reference& reference) {
    rewrite(reference.name);
    for (auto& term : reference.terms) {
      if (auto* range = std::get_if<ast::IndexRange>(&term.value)) {
        if (range->begin) rewrite(*range->begin);
        if (range->end) rewrite(*range->end);
        if (range->step) rewrite(*range->step);
      }
      if (auto* merged = std::get_if<ast::MergedIndex>(&term.value)) all(merged->labels);
      auto* name = std::get_if<ast::Identifier>(&term.value);
      if (name == nullptr) continue;
      if (is_variable(*name)) term.value = ast::Parameter{variable_.parameter};
      else rewrite(*name);
    }
  }

  // ---- Names and strings

  void rewrite(ast::Identifier& name) {
    if (name.quoted) rewrite(name.text);
  }

  void rewrite(std::string& text) {
    for (auto at = text.find(mark_); at != std::string::npos; at = text.find(mark_, at + digits_.size()))
      text.replace(at, mark_.size(), digits_);
  }

 private:
  template <class List>
  void all(List& nodes) {
    for (auto& node : nodes) rewrite(node);
  }

  bool is_variable(const ast::Identifier& name) const { return !name.quoted && name.text == variable_.name.text; }

  const LoopVariable& variable_;
  std::string digits_;
  std::string mark_;
  decltype(ast::Expression::node) number_ = ast::Parameter{variable_.parameter};  // the replacement of a bare name
};

}  // namespace

ast::Statement with_loop_variable(ast::Statement statement, const LoopVariable& variable) {
  Replacement(variable).rewrite(statement);
  return statement;
}

ast::Expression with_loop_variable(ast::Expression expression, const LoopVariable& variable) {
  Replacement(variable).rewrite(expression);
  return expression;
}

}  // namespace eindb
