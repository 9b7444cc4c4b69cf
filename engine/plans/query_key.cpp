#include "engine/plans/query_key.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {
namespace {

// Writes a syntax tree in order. Each list and text has its length and each alternative its number, so the bytes can be
// decoded in only one way.
//
// Structured bindings name all members of every node. A new member of a node does not compile here until its author
// decides whether it belongs to the key.
class KeyWriter {
 public:
  explicit KeyWriter(QueryKey& key) : key_(key) {}

  void write(const ast::Query& query) {
    const auto& [with, body, path, partition, span] = query;
    for (const auto& item : with) std::visit([&](const auto& node) { note_names(node); }, item);
    std::visit([&](const auto& node) { note_names(node); }, body);
    count(with.size());
    for (const auto& item : with) std::visit([&](const auto& node) { write(node); }, tagged(item));
    std::visit([&](const auto& node) { write(node); }, tagged(body));
    optional(path);
    optional(partition);
  }

 private:
  // ---- Parts ----------------------------------------------------------------------------------------------------

  template <class Number>
  void number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    key_.text.append(bytes, sizeof value);
  }

  // Lengths and alternatives are mostly small: up to 254 they take one byte.
  void count(std::size_t n) {
    if (n < 0xFF) {
      key_.text += static_cast<char>(n);
    } else {
      key_.text += '\xFF';
      number(n);
    }
  }

  void text(std::string_view value) {
    count(value.size());
    key_.text += value;
  }

  template <class Variant>
  const Variant& tagged(const Variant& value) {
    count(value.index());
    return value;
  }

  template <class List>
  void list(const List& values) {
    count(values.size());
    for (const auto& value : values) write(value);
  }

  template <class Value>
  void optional(const std::optional<Value>& value) {
    count(value ? 1 : 0);
    if (value) write(*value);
  }

  // ---- Derivatives, and several results

  void write(const ast::ResultNames& results) {
    const auto& [names, span] = results;
    list(names);
  }
  void write(const ast::MatrixResults& results) {
    const auto& [names, call, span] = results;
    list(names);
    write(call);
  }
  void write(const ast::Updates& updates) {
    const auto& [definitions, regions, span] = updates;
    list(definitions);
    list(regions);
  }
  void write(const ast::Region& region) {
    const auto& [cells, adds] = region;
    list(cells);
    count(adds ? 1 : 0);
  }
  void write(const ast::GradientVariable& variable) {
    const auto& [name, derivative, span] = variable;
    write(name);
    optional(derivative);
  }
  void write(const ast::Gradient& gradient) {
    const auto& [of, variables, span] = gradient;
    std::visit([&](const auto& node) { write(node); }, tagged(of));
    list(variables);
  }
  void write(const ast::Direction& direction) {
    const auto& [variable, tangent, span] = direction;
    write(variable);
    write(tangent);
  }
  void write(const ast::Jvp& jvp) {
    const auto& [of, directions, name, span] = jvp;
    std::visit([&](const auto& node) { write(node); }, tagged(of));
    list(directions);
    optional(name);
  }

  // ---- Names that the query defines or derives by: these do not mean a tensor of the catalog as it is -----------

  void note(const std::string& name) { own_names_.insert(to_upper(name)); }
  void note(const ast::Identifier& name) { note(name.text); }
  void note_names(const ast::Definition& definition) { note(definition.name); }
  void note_names(const ast::Gradient& gradient) {
    if (const auto* definition = std::get_if<ast::Definition>(&gradient.of)) note(definition->name);
    for (const auto& variable : gradient.variables) {
      note(variable.variable);
      note(variable.name ? variable.name->text : "d" + variable.variable.text);
    }
  }
  void note_names(const ast::Jvp& jvp) {
    if (const auto* definition = std::get_if<ast::Definition>(&jvp.of)) note(definition->name);
    for (const auto& direction : jvp.directions) {
      note(direction.variable);
      note(direction.tangent);
    }
    note(jvp.name ? jvp.name->text : "d" + std::visit([](const auto& of) { return name_of(of); }, jvp.of));
  }
  static const std::string& name_of(const ast::Identifier& name) { return name.text; }
  static const std::string& name_of(const ast::Definition& definition) { return definition.name.text; }
  void note_names(const ast::MatrixResults& results) {
    for (const auto& name : results.names) note(name);
  }
  void note_names(const ast::Subscripts& /*subscripts*/) {}
  void note_names(const ast::ResultNames& /*results*/) {}
  void note_names(const ast::Updates& /*updates: they read what was before*/) {}

  // ---- Words and constants --------------------------------------------------------------------------------------

  void write(std::size_t value) { count(value); }
  void write(const std::string& value) { text(value); }

  void write(const ast::Integer& integer) {
    const auto& [value] = integer;
    number(value);
  }

  void write(const ast::Real& real) {
    const auto& [value] = real;
    number(value);
  }

  void write(const ast::Parameter& parameter) {
    const auto& [which] = parameter;
    count(which);
    auto& use = key_.parameters[which];
    use = std::max(use, use_);
  }

  void write(const ast::Text& quoted) {
    const auto& [value] = quoted;
    text(value);
  }

  void write(const ast::Identifier& identifier) {
    const auto& [name, span, quoted, scope, qualified] = identifier;
    text(name);
    count((quoted ? 1 : 0) + (qualified ? 2 : 0));
    count(scope);
  }

  // Names of functions, macros and types are case-insensitive.
  void folded(const ast::Identifier& identifier) {
    const auto& [name, span, quoted, scope, qualified] = identifier;
    text(to_upper(name));
    count((quoted ? 1 : 0) + (qualified ? 2 : 0));
    count(scope);
  }

  void write(const ast::Extent& extent) {
    const auto& [value, span] = extent;
    const Use scope(*this, ParameterUse::Shape);
    std::visit([&](const auto& node) { write(node); }, tagged(value));
  }

  void write(const ast::RangeBound& bound) {
    const auto& [value, span] = bound;
    const Use scope(*this, ParameterUse::Shape);
    std::visit([&](const auto& node) { write(node); }, tagged(value));
  }

  void write(const ast::Dimension& dimension) {
    const auto& [label, extent, span] = dimension;
    write(label);
    optional(extent);
  }

  // ---- Expressions ----------------------------------------------------------------------------------------------

  // While a Use lives, parameters have at least this use. Of nested Uses the greatest counts.
  class Use {
   public:
    Use(KeyWriter& writer, ParameterUse use) : writer_(writer), saved_(writer.use_) {
      writer.use_ = std::max(saved_, use);
    }
    ~Use() { writer_.use_ = saved_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    KeyWriter& writer_;
    ParameterUse saved_;
  };

  static ParameterUse shape_if(bool shapes) { return shapes ? ParameterUse::Shape : ParameterUse::Number; }

  void write(const ast::Expression& expression) {
    const auto& [node, span] = expression;
    std::visit([&](const auto& alternative) { write(alternative); }, tagged(node));
  }

  void write(const ast::Name& bare) {
    const auto& [name] = bare;
    write(name);
  }

  void write(const ast::IndexTerm& term) {
    const auto& [value, span] = term;
    const Use scope(*this, ParameterUse::Index);
    std::visit([&](const auto& node) { write(node); }, tagged(value));
  }

  void write(const ast::Reference& reference) {
    const auto& [name, terms, padding] = reference;
    write(name);
    const Use scope(*this, shape_if(own_names_.contains(to_upper(name.text))));
    list(terms);
    optional(padding);
  }

  void write(const ast::IndexRange& range) {
    const auto& [begin, end, step] = range;
    optional(begin);
    optional(end);
    optional(step);
  }

  // The bounds of a computed index depend on its numbers.
  void write(const ast::ComputedIndex& computed) {
    const auto& [index] = computed;
    const Use scope(*this, ParameterUse::Shape);
    list(index);
  }

  void write(const ast::MergedIndex& merged) {
    const auto& [labels] = merged;
    const Use scope(*this, ParameterUse::Shape);
    list(labels);
  }

  void write(const ast::Padding& padding) {
    const auto& [kind, value, span] = padding;
    count(static_cast<std::size_t>(kind));
    const Use scope(*this, ParameterUse::Shape);
    list(value);
  }

  void write(const ast::Aggregate& aggregate) {
    const auto& [op, op_span, labels, running, descending, argument, others, name, definition, own] = aggregate;
    count(static_cast<std::size_t>(op) * 4 + (running ? 2 : 0) + (descending ? 1 : 0));
    if (name) folded(*name);
    count(labels ? 1 : 0);
    if (labels) list(*labels);
    list(argument);
    const Use scope(*this, ParameterUse::Shape);
    list(others);
  }

  // The type depends on whether an exponent is an integer, and a seed is part of its generator. The effect of a macro
  // on its arguments is known only from its body.
  void write(const ast::Call& call) {
    const auto& [function, arguments] = call;
    folded(function);
    count(arguments.size());
    const auto op = find_scalar_function(function.text);
    for (std::size_t n = 0; n < arguments.size(); ++n) {
      const Use scope(*this, shape_if(!op || (op == ScalarOp::Power && n == 1)));
      write(arguments[n]);
    }
  }

  void write(const ast::Prefix& prefix) {
    const auto& [op, operand] = prefix;
    count(static_cast<std::size_t>(op));
    list(operand);
  }

  void write(const ast::Infix& infix) {
    const auto& [operators, operands] = infix;
    DCHECK(operands.size() == operators.size() + 1, "an operator stands between each two operands");
    count(operators.size());
    for (const auto op : operators) count(static_cast<std::size_t>(op));
    for (std::size_t n = 0; n < operands.size(); ++n) {
      const Use scope(*this, shape_if(n > 0 && operators[n - 1] == ast::InfixOp::Power));
      write(operands[n]);
    }
  }

  void write(const ast::WhenClause& clause) {
    const auto& [when, then] = clause;
    write(when);
    write(then);
  }

  void write(const ast::Case& choice) {
    const auto& [subject, branches, otherwise] = choice;
    list(subject);
    list(branches);
    list(otherwise);
  }

  void write(const ast::Cast& cast) {
    const auto& [operand, type] = cast;
    list(operand);
    folded(type);
  }

  // ---- Queries --------------------------------------------------------------------------------------------------

  void write(const ast::Definition& definition) {
    const auto& [name, labels, expression, head_span, span, merged] = definition;
    write(name);
    list(labels);
    count(merged.size());
    for (const auto& [first, parts] : merged) {
      count(first);
      count(parts);
    }
    write(expression);
  }

  void write(const ast::SubscriptItem& item) {
    const auto& [label, span] = item;
    text(label);
  }

  void write(const ast::SubscriptTerm& term) {
    const auto& [items, span] = term;
    list(items);
  }

  void write(const ast::SubscriptNesting& nesting) {
    const auto& [operand, children, span] = nesting;
    optional(operand);
    list(children);
  }

  void write(const ast::Subscripts& subscripts) {
    const auto& [inputs, output, nesting, operands, text_span] = subscripts;
    list(inputs);
    optional(output);
    optional(nesting);
    list(operands);
  }

  void write(const ast::PathStep& step) {
    const auto& [positions, span] = step;
    list(positions);
  }

  void write(const ast::PathClause& path) {
    const auto& [value, weight, span] = path;
    std::visit([&](const auto& node) { write(node); }, tagged(value));
    count(weight ? 1 : 0);
    if (weight) number(*weight);
  }

  void write(const ast::CutsClause& partition) {
    const auto& [cuts] = partition;
    list(cuts);
  }

  void write(const ast::CutsClause::Cut& cut) {
    const auto& [label, parts] = cut;
    write(label.text);
    number(parts);
  }

  void write(const std::vector<ast::PathStep>& steps) { list(steps); }

  QueryKey& key_;
  ParameterUse use_ = ParameterUse::Number;
  std::set<std::string> own_names_;  // in upper case
};

}  // namespace

QueryKey key_of(const ast::Query& query) {
  constexpr std::size_t kRoom = 256;  // enough for most queries
  QueryKey key;
  key.text.reserve(kRoom);
  KeyWriter(key).write(query);
  return key;
}

}  // namespace eindb
