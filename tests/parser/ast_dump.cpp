#include "tests/parser/ast_dump.hpp"

#include <array>
#include <cstdio>

namespace eindb::ast {
namespace {

std::string real_text(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  const std::string out = text.data();
  return out.find_first_of(".ein") == std::string::npos ? out + ".0"
                                                        : out;  // 1e20, inf and nan are recognisable as reals
}

std::string text_of(const Identifier& name) { return name.quoted ? '"' + name.text + '"' : name.text; }
std::string text_of(const Integer& value) { return std::to_string(value.value); }
std::string text_of(const Text& text) { return "'" + text.value + "'"; }
std::string text_of(const Parameter& value) { return "$" + std::to_string(value.number); }
std::string text_of(std::size_t value) { return std::to_string(value); }
std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(double value) { return real_text(value); }
std::string text_of(const std::string& value) { return "'" + value + "'"; }
std::string text_of(const Null& /*null*/) { return "NULL"; }
std::string text_of(const Expression& expression) { return dump(expression); }
std::string text_of(const Literal& literal);
std::string text_of(const IndexRange& range);
std::string text_of(const ComputedIndex& computed);
std::string text_of(const MergedIndex& merged);
template <class... Types>
std::string text_of(const std::variant<Types...>& value) {
  return std::visit([](const auto& v) { return text_of(v); }, value);
}
std::string text_of(const IndexTerm& term) { return text_of(term.value); }
std::string text_of(const IndexRange& range) {
  const auto bound = [](const auto& number) { return number ? text_of(number->value) : std::string(); };
  return bound(range.begin) + ":" + bound(range.end) + (range.step ? ":" + bound(range.step) : "");
}
std::string text_of(const ComputedIndex& computed) { return text_of(computed.index.front()); }
std::string text_of(const Padding& padding) {
  static constexpr std::string_view kWords[] = {"", "EDGE", "REFLECT", "WRAP"};
  return padding.value.empty() ? std::string(kWords[static_cast<std::size_t>(padding.kind)])
                               : text_of(padding.value.front());
}
std::string text_of(const Dimension& dimension);
std::string text_of(const DeclaredDimension& declared);
std::string text_of(const MergedIndex& merged) {
  std::string out = "(";
  for (const auto& dimension : merged.labels) out += (out.size() == 1 ? "" : " ") + text_of(dimension);
  return out + ")";
}
std::string text_of(const Literal& literal) { return text_of(literal.value); }
std::string text_of(const Option& option) {
  return text_of(option.name) + (option.value ? "=" + text_of(*option.value) : "");
}
std::string text_of(const DeclaredDimension& declared) {
  if (!declared.names) return text_of(declared.dimension);
  const auto& source = declared.names->source;
  auto text = text_of(declared.dimension.label) + " names";
  if (const auto* list = std::get_if<std::vector<std::string>>(&source))
    for (const auto& name : *list) text += " '" + name + "'";
  if (const auto* sql = std::get_if<Sql>(&source)) text += " '" + sql->text + "'";
  if (const auto* calendar = std::get_if<NamesClause::Calendar>(&source))
    text += " from " + calendar->first + " to " + calendar->last + " step " + calendar->step;
  return text;
}
std::string text_of(const Dimension& dimension) {
  return text_of(dimension.label) + (dimension.extent ? " " + text_of(dimension.extent->value) : "");
}
std::string text_of(const AggregateClauses::Join& join) { return join.name.text; }
std::string text_of(const SubscriptItem& item) { return item.is_ellipsis() ? "..." : item.label; }

template <class List>
std::string joined(const List& list, const std::string& separator) {
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) out += (i == 0 ? "" : separator) + text_of(list[i]);
  return out;
}

template <class List>
std::string bracketed(const List& list) {
  return "[" + joined(list, ",") + "]";
}

/// " a b c"
template <class List>
std::string spaced(const List& list) {
  return list.empty() ? "" : " " + joined(list, " ");
}

constexpr std::array kAggregateNames = {"SUM",
                                        "PROD",
                                        "MIN",
                                        "MAX",
                                        "MEAN",
                                        "NORM",
                                        "LOGSUMEXP",
                                        "ARGMIN",
                                        "ARGMAX",
                                        "ANY",
                                        "ALL",
                                        "COUNT",
                                        "COUNT_NONZERO",
                                        "VAR",
                                        "STD",
                                        "VARIANCE",
                                        "STDDEV",
                                        "SORT",
                                        "ARGSORT",
                                        "TOPK",
                                        "ARGTOPK",
                                        "UNIQUE",
                                        "UNIQUE_INDEX",
                                        "UNIQUE_COUNT",
                                        "UNIQUE_INVERSE",
                                        "QUANTILE",
                                        "MEDIAN",
                                        "MODE",
                                        "COUNT_DISTINCT",
                                        "FFT",
                                        "IFFT",
                                        "RFFT",
                                        "IRFFT",
                                        "CONCAT",
                                        "STACK",
                                        "USER"};
constexpr std::array kInfixNames = {"or", "and", "=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "^"};

std::string dump_node(const Integer& node) { return text_of(node); }
std::string dump_node(const Real& node) { return real_text(node.value); }
std::string dump_node(const Parameter& node) { return text_of(node); }
std::string dump_node(const Text& node) { return text_of(node); }
std::string dump_node(const Name& node) { return text_of(node.name); }
std::string dump_node(const Reference& node) {
  return text_of(node.name) + bracketed(node.terms) + (node.padding ? "PAD(" + text_of(*node.padding) + ")" : "");
}
std::string dump_node(const Aggregate& node) {
  const std::string name =
      (node.running ? "CUM" : "") + (node.name ? "aggregate-" + text_of(*node.name)
                                               : std::string(kAggregateNames[static_cast<std::size_t>(node.op)]));
  return "(" + name + (node.labels ? bracketed(*node.labels) : "") + spaced(node.argument) + spaced(node.second) + ")";
}
std::string dump_node(const Call& node) { return "(" + text_of(node.function) + spaced(node.arguments) + ")"; }
std::string dump_node(const Prefix& node) {
  return (node.op == PrefixOp::Not ? "(not" : "(neg") + spaced(node.operand) + ")";
}
std::string dump_node(const Infix& node) {
  std::string out = "(" + dump(node.operands.front());
  for (std::size_t i = 0; i < node.operators.size(); ++i)
    out +=
        std::string(" ") + kInfixNames[static_cast<std::size_t>(node.operators[i])] + " " + dump(node.operands[i + 1]);
  return out + ")";
}
std::string dump_node(const Case& node) {
  std::string out = "(case" + spaced(node.subject);
  for (const auto& branch : node.branches) out += " (when " + dump(branch.when) + " " + dump(branch.then) + ")";
  return out + (node.otherwise.empty() ? "" : " (else" + spaced(node.otherwise) + ")") + ")";
}
std::string dump_node(const Cast& node) { return "(cast" + spaced(node.operand) + " " + text_of(node.type) + ")"; }

std::string dump_definition(const Definition& definition) {
  return "(" + text_of(definition.name) + bracketed(definition.labels) + " = " + dump(definition.expression) + ")";
}

std::string dump_nesting(const SubscriptNesting& nesting) {
  if (nesting.operand) return std::to_string(*nesting.operand);
  std::string out = "(";
  for (const auto& child : nesting.children) out += (out.size() == 1 ? "" : " ") + dump_nesting(child);
  return out + ")";
}

std::string dump_body(const Definition& definition) { return dump_definition(definition); }
std::string dump_body(const Subscripts& subscripts) {
  std::string out = "(subscripts";
  for (const auto& input : subscripts.inputs) out += " " + bracketed(input.items);
  if (subscripts.output) out += " -> " + bracketed(subscripts.output->items);
  out += " of" + spaced(subscripts.operands);
  return out + (subscripts.nesting ? " nested " + dump_nesting(*subscripts.nesting) : "") + ")";
}

std::string dump_path(const PathClause& path) {
  const auto weight = path.weight ? " weight " + std::to_string(*path.weight) : "";
  if (const auto* const name = std::get_if<std::string>(&path.value)) return " path '" + *name + "'" + weight;
  std::string out = " path (";
  for (const auto& step : std::get<std::vector<PathStep>>(path.value)) out += "(" + joined(step.positions, " ") + ")";
  return out + ")" + weight;
}

std::string dump_body(const MatrixResults& results) {
  return "((" + joined(results.names, ",") + ") = " + dump(results.call) + ")";
}
std::string dump_body(const ResultNames& results) { return "(results " + joined(results.names, ",") + ")"; }
std::string dump_body(const Updates& updates) {
  std::string out = "(updates";
  for (std::size_t n = 0; n < updates.definitions.size(); ++n) {
    const auto& definition = updates.definitions[n];
    const auto& [cells, adds] = updates.regions.at(n);
    if (cells.empty()) out += " " + dump_definition(definition);
    else out += " (" + dump(cells.front()) + (adds ? " += " : " = ") + dump(definition.expression) + ")";
  }
  return out + ")";
}
std::string dump_derived(const Identifier& name) { return text_of(name); }
std::string dump_derived(const Definition& definition) { return dump_definition(definition); }
std::string dump_of(const Derived& of) {
  return std::visit([](const auto& what) { return dump_derived(what); }, of);
}
std::string dump_body(const Gradient& gradient) {
  std::string out = "(gradient " + dump_of(gradient.of);
  for (const auto& [variable, name, span] : gradient.variables)
    out += " " + text_of(variable) + (name ? ":" + text_of(*name) : "");
  return out + ")";
}
std::string dump_body(const Jvp& jvp) {
  std::string out = "(jvp " + dump_of(jvp.of);
  for (const auto& [variable, tangent, span] : jvp.directions) out += " " + text_of(variable) + ":" + text_of(tangent);
  return out + (jvp.name ? " as " + text_of(*jvp.name) : "") + ")";
}

std::string dump_sql(const Sql& sql) {
  std::string out = "(sql '" + sql.text + "'";
  for (const auto& embedded : sql.queries) out += " " + dump(embedded.query);
  return out + ")";
}

std::string dump_source(std::monostate) { return ""; }
std::string dump_source(const Identifier& name) { return " " + text_of(name); }
std::string dump_source(const Query& query) { return " " + dump(query); }
std::string dump_source(const Sql& sql) { return " " + dump_sql(sql); }

std::string dump_source_of(const auto& source) {
  return std::visit([](const auto& s) { return dump_source(s); }, source);
}

std::string dump_options(const std::vector<Option>& options) {
  return options.empty() ? "" : " (" + joined(options, ", ") + ")";
}

std::string dump_partition(const PartitionClause& clause) { return " partition (" + joined(clause.parts, ",") + ")"; }

std::string dump_replicas(const ReplicasClause& clause) { return " replicas " + std::to_string(clause.count); }

std::string or_all(const std::optional<Identifier>& name) { return name ? text_of(*name) : "ALL"; }

std::string dump_node(const Empty&) { return "(empty)"; }
std::string dump_condition(const auto& create) {
  return create.or_replace ? "-or-replace" : create.if_not_exists ? "-if-not-exists" : "";
}
std::string dump_node(const CreateTensor& node) {
  std::string out = "(create" + dump_condition(node) + " " + text_of(node.name);
  if (node.dimensions) out += "(" + joined(*node.dimensions, ",") + ")";
  if (node.type) out += " " + text_of(*node.type);
  if (node.partition) out += dump_partition(*node.partition);
  if (node.replicas) out += dump_replicas(*node.replicas);
  return out + dump_source_of(node.source) + ")";
}
std::string dump_node(const CreateTensors& node) {
  return "(create-tensors" + dump_condition(node) + " " + joined(node.names, ",") +
         (node.replicas ? dump_replicas(*node.replicas) : "") + " " + dump(node.query) + ")";
}
std::string dump_node(const UpdateTensor& node) { return "(update " + dump(node.query) + ")"; }
std::string dump_node(const Repeat& node) {
  std::string out = "(repeat " + text_of(node.count.value);
  if (node.variable) out += " as " + text_of(*node.variable);
  if (node.until) out += " until " + dump(*node.until);
  if (node.commit_every) out += " every " + text_of(node.commit_every->value);
  for (const auto& statement : node.body) out += " " + dump(statement);
  return out + ")";
}
std::string dump_node(const DropTensor& node) {
  std::string out = node.if_exists ? "(drop-if-exists" : "(drop";
  for (const auto& name : node.names) out += " " + text_of(name);
  if (node.behavior == DropBehavior::Cascade) out += " cascade";
  if (node.behavior == DropBehavior::Restrict) out += " restrict";
  return out + ")";
}
std::string dump_node(const Backup& node) { return "(backup '" + node.path + "')"; }
std::string dump_node(const AttachDatabase& node) {
  return "(attach-database '" + node.path + "' " + text_of(node.name) + ")";
}
std::string dump_node(const DetachDatabase& node) { return "(detach-database " + text_of(node.name) + ")"; }
std::string dump_node(const AlterTensor& node) {
  std::string change;
  if (const auto* name = std::get_if<Identifier>(&node.change)) change = " rename " + text_of(*name);
  else if (const auto* replicas = std::get_if<ReplicasClause>(&node.change)) change = dump_replicas(*replicas);
  else if (const auto* extend = std::get_if<ExtendClause>(&node.change))
    change = " extend(" + joined(extend->dimensions, " ") + ")";
  else if (const auto* renaming = std::get_if<LabelRenaming>(&node.change))
    change = " rename-label " + text_of(renaming->label) + " " + text_of(renaming->new_name);
  else if (const auto* type = std::get_if<TypeClause>(&node.change)) change = " type " + text_of(type->type);
  else change = dump_partition(std::get<PartitionClause>(node.change));
  return "(alter " + text_of(node.name) + change + ")";
}
std::string dump_node(const AnalyzeTensor& node) {
  return node.name ? "(analyze " + text_of(*node.name) + ")" : "(analyze-all)";
}
std::string dump_node(const ShowTensors&) { return "(show-tensors)"; }
std::string dump_node(const ShowFileTensors& node) {
  return "(show-tensors-in '" + node.path + "'" + dump_options(node.options) + ")";
}
std::string dump_node(const CopyAllFrom& node) {
  return "(copy-all-from '" + node.path + "'" + dump_options(node.options) + ")";
}
std::string dump_node(const ShowMacros&) { return "(show-macros)"; }
std::string dump_node(const Describe& node) { return "(describe " + text_of(node.name) + ")"; }
std::string dump_node(const CopyFrom& node) {
  return "(copy-from " + text_of(node.tensor) + " '" + node.path + "'" + dump_options(node.options) + ")";
}
std::string dump_node(const CopyTo& node) {
  return "(copy-to" + dump_source_of(node.source) + " '" + node.path + "'" + dump_options(node.options) + ")";
}
std::string dump_node(const InsertInto& node) {
  std::string out = "(insert " + text_of(node.tensor) + (node.along ? " at " + text_of(*node.along) : "");
  if (node.appended) out += " " + dump(*node.appended);
  for (const auto& row : node.rows) out += " (" + joined(row.values, " ") + ")";
  if (node.query) out += dump_source(*node.query);
  return out + ")";
}
std::string dump_node(const Query& node) { return dump(node); }
constexpr std::array kFormats = {" text", " json", " dot", " html"};
std::string dump_node(const Explain& node) {
  return std::string("(explain") + (node.analyze ? " analyze" : "") + (node.compare ? " compare" : "") +
         kFormats[static_cast<std::size_t>(node.format)] + " " + dump(node.query) + ")";
}
std::string dump_node(const ExplainRedistribution& node) {
  return std::string("(explain-redistribution") + kFormats[static_cast<std::size_t>(node.format)] +
         (node.tensor ? " " + text_of(*node.tensor) : "") + " " + text_of(node.source) + " " + text_of(node.target) +
         (node.mesh ? " " + text_of(*node.mesh) : "") + ")";
}
std::string dump_node(const Set& node) { return "(set " + text_of(node.name) + " " + text_of(node.value) + ")"; }
std::string dump_node(const Show& node) { return "(show " + or_all(node.name) + ")"; }
std::string dump_node(const Reset& node) { return "(reset " + or_all(node.name) + ")"; }
std::string dump_node(const Begin& node) {
  constexpr std::array kModes = {"deferred", "immediate", "exclusive"};
  return std::string("(begin ") + kModes[static_cast<std::size_t>(node.mode)] + (node.read_only ? " read-only)" : ")");
}
std::string dump_node(const Commit&) { return "(commit)"; }
std::string dump_node(const Rollback&) { return "(rollback)"; }
std::string dump_node(const SetTransaction& node) {
  if (!node.read_only) return "(set-transaction)";
  return *node.read_only ? "(set-transaction read-only)" : "(set-transaction read-write)";
}
std::string dump_node(const Savepoint& node) {
  constexpr std::array kUses = {"(savepoint ", "(release ", "(rollback-to "};
  return kUses[static_cast<std::size_t>(node.use)] + text_of(node.name) + ")";
}
std::string dump_node(const Prepare& node) { return "(prepare " + text_of(node.name) + " '" + node.body + "')"; }
std::string dump_node(const Execute& node) { return "(execute " + text_of(node.name) + spaced(node.arguments) + ")"; }
std::string dump_node(const Deallocate& node) { return "(deallocate " + or_all(node.name) + ")"; }
std::string text_of(const AggregateClauses& clauses) {
  std::string out = " initial " + dump(clauses.initial);
  if (clauses.commutative) out += " commutative";
  if (clauses.associative) out += " associative";
  if (clauses.idempotent) out += " idempotent";
  if (!clauses.distributes_over.empty()) out += " over (" + joined(clauses.distributes_over, ",") + ")";
  return out;
}
std::string dump_node(const CreateMacro& node) {
  return std::string(node.is_function ? "(function"
                     : node.aggregate ? "(aggregate"
                                      : "(macro") +
         (node.or_replace      ? "-or-replace "
          : node.if_not_exists ? "-if-not-exists "
                               : " ") +
         text_of(node.name) + "(" + joined(node.parameters, ",") + ") " + dump(node.body) +
         (node.aggregate ? text_of(*node.aggregate) : "") + " '" + node.body_text + "')";
}
std::string dump_node(const DropMacro& node) {
  return std::string(node.is_function    ? "(drop-function"
                     : node.is_aggregate ? "(drop-aggregate"
                                         : "(drop-macro") +
         (node.if_exists ? "-if-exists " : " ") + text_of(node.name) + ")";
}
std::string dump_node(const CommentOn& node) {
  static constexpr const char* kWhat[] = {"table", "view", "index", "tensor", "column"};
  return std::string("(comment ") + kWhat[static_cast<std::size_t>(node.what)] + " " + text_of(node.object) +
         (node.column ? "." + text_of(*node.column) : "") + (node.text ? " '" + *node.text + "'" : "") + ")";
}
std::string dump_password(const Password& password) { return " '" + password.text + "'"; }
std::string dump_role(UserRole role) {
  if (role == UserRole::Admin) return " admin";
  if (role == UserRole::Restricted) return " restricted";
  return role == UserRole::ReadOnly ? " read-only" : " read-write";
}
std::string dump_node(const CreateUser& node) {
  return "(user " + text_of(node.name) + dump_password(node.password) + dump_role(node.role) + ")";
}
std::string dump_node(const AlterUser& node) {
  return "(alter-user " + text_of(node.name) + (node.password ? dump_password(*node.password) : "") +
         (node.role ? dump_role(*node.role) : "") + ")";
}
std::string dump_node(const DropUser& node) {
  return (node.if_exists ? "(drop-user-if-exists " : "(drop-user ") + text_of(node.name) + ")";
}
std::string dump_node(const Grant& node) {
  static constexpr const char* kOn[] = {"", " table", " tensor", " all-tables", " all-tensors"};
  return std::string(node.revokes ? "(revoke " : "(grant ") + std::to_string(node.rights) +
         kOn[static_cast<std::size_t>(node.on)] + spaced(node.objects) + (node.revokes ? " from" : " to") +
         spaced(node.users) + ")";
}
std::string dump_node(const ShowUsers&) { return "(show-users)"; }
std::string dump_node(const ShowWorkers&) { return "(show-workers)"; }
std::string dump_node(const DrainWorker& node) { return "(drain-worker '" + node.address + "')"; }
std::string dump_node(const AlterWorker& node) {
  return "(alter-worker '" + node.address + "' " + (node.leaves ? "drain" : "activate") + ")";
}
std::string dump_node(const Sql& node) { return dump_sql(node); }

}  // namespace

std::string dump(const Expression& expression) {
  return std::visit([](const auto& node) { return dump_node(node); }, expression.node);
}

std::string dump(const Query& query) {
  std::string out = "(query ";
  for (const auto& item : query.with) out += std::visit([](const auto& node) { return dump_body(node); }, item) + " ";
  out += std::visit([](const auto& body) { return dump_body(body); }, query.body);
  if (query.path) out += dump_path(*query.path);
  if (query.partition) {
    out += " partition (";
    for (const auto& [label, parts] : query.partition->cuts)
      out += "(" + text_of(label) + " " + std::to_string(parts) + ")";
    out += ")";
  }
  return out + ")";
}

std::string dump(const Statement& statement) {
  return std::visit([](const auto& node) { return dump_node(node); }, statement.node);
}

}  // namespace eindb::ast
