#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/source_span.hpp"
#include "engine/dialect/given.hpp"
#include "engine/dialect/names.hpp"
#include "engine/dialect/parse_tree.hpp"
#include "engine/dialect/sql_text.hpp"
#include "engine/dialect/sql_type.hpp"
#include "engine/dialect/text_edits.hpp"

namespace eindb::dialect {

/// A translated expression.
struct Value {
  SqlText text = {};
  SqlType type = SqlType::Any;
  int location = -1;
  std::optional<std::string> literal = {};  ///< the text of a constant of type Unknown
  bool is_null = false;                     ///< the constant NULL
  std::size_t parameter = 0;                ///< a parameter alone, by number; 0: none
  bool may_overflow = false;                ///< a sum or product of integers whose range is not checked yet
  std::string name = "?column?";            ///< of the result's column, if the user gives none
  std::string declared = {};                ///< the type with its modifiers, of a column or cast: "numeric(10,2)"
};

/// How freely values become another type's, as in PostgreSQL: in an operator or call, when they are stored, in a CAST.
enum class Coercion { Implicit, Assignment, Explicit };

/// A signature of a function or an aggregate. Types of arguments: n number, i integer, f float, t text, b boolean,
/// d date, s timestamp, v interval, u uuid, y bytea, a anything. The result: the same letters, m numeric, z
/// timestamptz, 0 the first argument's type, 1 the second's, r a float for integers and otherwise the first argument's
/// type.
struct Function {
  std::string_view name;
  std::string_view arguments;
  char result = 'a';
  std::string_view sqlite = {};  ///< its name in SQLite if that is another
  enum class Kind : std::uint8_t { Scalar, Aggregate, Window } kind = Kind::Scalar;
  bool repeats = false;  ///< whether the last argument may be given again and again
};

/// A column that is used outside of aggregates in a SELECT, whose groups must determine it if it has groups.
struct ColumnUse {
  const Scope* scope = nullptr;  ///< of the SELECT that has the column
  std::size_t source = Scope::kNoSource;
  std::string name;
  int location = -1;
  bool in_sub_query = false;
};

/// The expressions of GROUP BY.
struct GroupKeys {
  const Scope* scope = nullptr;
  std::vector<const PgNode*> keys = {};
};

/// The functions of this name, given in lower case.
std::span<const Function> functions_named(std::string_view name);

/// Translates one statement from its syntax tree. Used once.
///
/// Expressions are in translator_expressions.cpp, operators in translator_operators.cpp, calls in translator_calls.cpp,
/// types in translator_types.cpp, arrays and functions that give rows in translator_sets.cpp, queries in
/// translator_queries.cpp, their groups in translator_groups.cpp, what they read in translator_sources.cpp, statements
/// that write in translator_writes.cpp, CREATE and ALTER TABLE in translator_tables.cpp, indices in
/// translator_indices.cpp, other definitions in translator_definitions.cpp. All throw NotTranslated for what they do
/// not know, and CodedError for what PostgreSQL would refuse.
class Translator {
 public:
  /// `around`: names that the whole statement sees, as in a trigger. `variables`: those of loops, by the numbers of the
  /// parameters that stand for them.
  Translator(std::string_view statement, const FindColumns& find_columns, const Given& given = {},
             const Scope* around = nullptr, std::map<std::size_t, std::string> variables = {})
      : statement_(statement),
        find_columns_(find_columns),
        around_(around),
        converts_(given.converts),
        variables_(std::move(variables)),
        parameters_(given.parameters) {}

  SqlText statement(const PgNode& node);
  /// The condition that SELECT gives alone.
  SqlText condition_of(const PgNode& select);
  /// The types of parameters that the statement determines, by number.
  const std::map<std::size_t, SqlType>& parameters() const { return parameters_; }
  const std::map<std::size_t, std::string>& array_parameters() const { return array_parameters_; }
  /// Whether the text may name tables of the catalog, or functions that are not listed here.
  bool uses_catalog() const { return uses_catalog_; }
  /// The columns of the statement's rows; empty if it gives none.
  const std::vector<Column>& columns() const { return columns_; }

 private:
  // ---- Expressions -------------------------------------------------------------------------------------------------
  Value expression(const PgNode& node, const Scope& scope);
  Value expression_of_kind(const PgNode& node, const Scope& scope);
  Value constant(const PgQuery__AConst& constant) const;
  Value column(const PgQuery__ColumnRef& column, const Scope& scope);
  Value parameter(const PgQuery__ParamRef& parameter);
  Value converted_parameter(std::size_t number, SqlType type, int location);
  Value case_of(const PgQuery__CaseExpr& node, const Scope& scope);
  Value coalesce(const PgQuery__CoalesceExpr& node, const Scope& scope);
  Value extreme(const PgQuery__MinMaxExpr& node, const Scope& scope);
  Value logic(const PgQuery__BoolExpr& node, const Scope& scope);
  Value truth_test(const PgQuery__BooleanTest& node, const Scope& scope);
  Value null_test(const PgQuery__NullTest& node, const Scope& scope);
  Value sub_query(const PgQuery__SubLink& node, const Scope& scope);
  Value current(const PgQuery__SQLValueFunction& node);
  Value array(const PgQuery__AArrayExpr& node, const Scope& scope);
  Value element(const PgQuery__AIndirection& node, const Scope& scope);
  std::vector<Value> row(const PgNode& node, const Scope& scope);
  Value collated(const PgQuery__CollateClause& node, const Scope& scope);
  /// A condition: a value of type boolean. `what` names the place: "WHERE".
  SqlText condition(const PgNode& node, const Scope& scope, std::string_view what);
  Value truth(Value value, std::string_view what);
  /// The values with the type that all of them have; `what` for messages: "CASE".
  SqlType unify(std::vector<Value>& values, std::string_view what);

  // ---- Operators ---------------------------------------------------------------------------------------------------
  Value operation(const PgQuery__AExpr& node, const Scope& scope);
  Value unary(std::string_view name, Value operand, int location);
  Value binary(std::string_view name, Value left, Value right, int location);
  Value arithmetic(std::string_view name, Value left, Value right, int location);
  Value moment_arithmetic(std::string_view name, Value left, Value right, int location);
  Value time_arithmetic(std::string_view name, Value left, Value right, int location);
  Value concatenation(Value left, Value right, int location);
  Value joined_arrays(Value left, Value right, int location);
  Value json_part(std::string_view name, Value left, Value right, int location);
  Value comparison(std::string_view name, Value left, Value right, int location);
  Value like(const PgQuery__AExpr& node, const Scope& scope);
  Value in_list(const PgQuery__AExpr& node, const Scope& scope);
  Value between(const PgQuery__AExpr& node, const Scope& scope);
  Value any_of(const PgQuery__AExpr& node, const Scope& scope);
  Value compared_elements(const std::string& name, bool all, const PgQuery__AExpr& node, const Scope& scope);
  Value row_comparison(std::string_view name, std::vector<Value> left, std::vector<Value> right, int location);
  Value match(std::string_view name, Value text, Value pattern, int location);
  /// Gives a constant the type of the value that it is compared with.
  void settle_beside(Value& value, const Value& other);
  /// Brings the operands of a comparison to one type.
  void compare_types(std::string_view name, Value& left, Value& right, int location);
  [[noreturn]] void no_operator(std::string_view name, SqlType left, SqlType right, int location) const;

  // ---- Calls -------------------------------------------------------------------------------------------------------
  Value call(const PgQuery__FuncCall& node, const Scope& scope);
  Value aggregate(const Function& function, const PgQuery__FuncCall& node, std::vector<Value> arguments,
                  const Scope& scope);
  /// A call of a function that SQLite or pg_catalog has, of which nothing is known here.
  Value foreign_call(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope);
  Value raise(const PgQuery__FuncCall& node);
  Value type_name(const PgQuery__FuncCall& node, const Scope& scope);
  Value cast_call(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope);
  Value json_object(const PgQuery__FuncCall& node, const Scope& scope);
  Value array_aggregate(const PgQuery__FuncCall& node, const Scope& scope);
  /// A function that gives rows, in the list of a SELECT: it is joined to the tables.
  std::optional<Value> set_in_list(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope);
  /// The elements of a function that gives rows, as the argument of json_each(), and their type.
  struct Elements {
    SqlText json;
    SqlType type = SqlType::Any;
    std::string declared = {};
  };
  std::optional<Elements> elements(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope);
  class AggregateArguments;
  Value within_group(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope);
  Value ordered_aggregate(const std::string& name, const PgQuery__FuncCall& node, const Scope& scope);
  Value finished_aggregate(Value value, const PgQuery__FuncCall& node, const Scope& scope);
  Value sort_key(const PgNode& node, const Scope& scope);
  std::string directions_of(std::span<PgNode* const> keys) const;
  const Function* choose(std::string_view name, std::vector<Value>& arguments) const;
  Value called(const Function& function, std::vector<Value> arguments, int location);
  SqlText window(const PgQuery__WindowDef& node, const Scope& scope);

  // ---- Types -------------------------------------------------------------------------------------------------------
  Value cast(const PgQuery__TypeCast& node, const Scope& scope);
  Value cast_to(const std::string& name, Value value, const std::vector<std::int64_t>& modifiers, int location);
  Value coerce(Value value, SqlType target, Coercion coercion);
  Value settle(Value value, SqlType type);
  /// An array of values of the type: a constant is read, any other text when the statement runs.
  Value to_array(Value value, SqlType element);
  Value special_moment(Value value) const;
  /// The value with its range checked, if it is a sum of integers.
  Value checked(Value value) const;
  Value to_text(Value value) const;
  /// A value of char(n) with the blanks that it ends in.
  Value with_blanks(Value value) const;
  /// The text that a client would be sent, which concat takes: of true it is t, where a cast gives true.
  Value output_text(Value value) const;
  /// Applies (20), (10,2) or the width of an integer: a cast cuts texts, storing refuses what is too long.
  Value fit(Value value, std::string_view type, const std::vector<std::int64_t>& modifiers, Coercion coercion) const;

  // ---- Queries -----------------------------------------------------------------------------------------------------
  struct Query {
    SqlText text;
    std::vector<Column> columns;
    bool known = true;         ///< whether these are all columns: functions and EINSUM may give others
    bool has_one_row = false;  ///< whether it has at most one row, whatever the tables hold
    /// A constant or parameter in the list of a SELECT that is a part of a UNION, which gives it its type.
    struct OpenResult {
      std::size_t column = 0;
      std::size_t place = 0;  ///< in the list
      Value value;
    };
    std::vector<OpenResult> open = {};
    SqlText head = {};  ///< of a SELECT with open results, whose text is head, list and tail
    std::vector<SqlText> list = {};
    SqlText tail = {};
  };
  Query query(const PgQuery__SelectStmt& node, const Scope* outer, const std::vector<Column>* targets = nullptr,
              bool keeps_open = false);
  /// `keeps_open`: results of type Unknown are left to the caller, in `open`.
  Query select(const PgQuery__SelectStmt& node, const Scope* outer, const std::vector<Column>* targets,
               bool keeps_open);
  /// Gives open results the types of the columns of the other part of a UNION, or that of a text.
  void close_results(Query& query, const std::vector<Column>& other);
  Query values(const PgQuery__SelectStmt& node, const Scope* outer, const std::vector<Column>* targets);
  Query compound(const PgQuery__SelectStmt& node, const Scope* outer, const std::vector<Column>* targets);
  SqlText with(const PgQuery__WithClause& node, const Scope* outer);
  SqlText order_and_limit(const PgQuery__SelectStmt& node, const Scope& scope, const Query& rows, bool of_compound);
  SqlText limit(const PgQuery__SelectStmt& node);
  SqlText places_of_groups(const PgQuery__SelectStmt& node, const Scope& scope);
  /// The keys of ORDER BY. `rows`: those of the SELECT, whose names and positions may be keys; null in a window.
  SqlText sorting(std::span<PgNode* const> keys, const Scope& scope, const Query* rows, bool of_compound);
  SqlText sources(std::span<PgNode* const> nodes, Scope& scope);
  SqlText source(const PgNode& node, Scope& scope);
  SqlText table(const PgQuery__RangeVar& node, Scope& scope);
  SqlText einsum(const PgQuery__RangeVar& node, Scope& scope);
  SqlText with_alias(const PgQuery__RangeVar& node, SqlText text, Source source, Scope& scope) const;
  SqlText tensor_part(std::size_t begin, const PgQuery__RangeVar& node, Scope& scope);
  bool is_file(const PgQuery__RangeVar& node) const;
  SqlText table_function(const PgQuery__RangeFunction& node, Scope& scope);
  SqlText lateral(const PgQuery__RangeSubselect& node, Scope& scope);
  SqlText derived(const PgQuery__RangeSubselect& node, Scope& scope);
  SqlText join(const PgQuery__JoinExpr& node, Scope& scope);
  void check_using(const std::vector<std::string>& names, const Scope& scope, std::size_t first,
                   std::size_t middle) const;
  Value as_result(Value value);
  void results(std::span<PgNode* const> targets, const Scope& scope, const std::vector<Column>* columns, Query& out,
               std::vector<SqlText>& texts, bool keeps_open);
  /// `convert`: the columns are needed one by one, since each is converted.
  void star(const PgQuery__ColumnRef& node, const Scope& scope, bool convert, Query& out, std::vector<SqlText>& texts);

  // ---- Groups ------------------------------------------------------------------------------------------------------
  std::vector<const PgNode*> group_keys(const PgQuery__SelectStmt& node, const Scope& scope) const;
  SqlText grouping(const PgQuery__SelectStmt& node, const Scope& scope);
  /// Refuses columns of the SELECT that are neither keys of its groups nor inside of aggregates.
  void check_grouping(const Scope& scope, std::size_t first) const;
  void check_distinct_on(const PgQuery__SelectStmt& node, const Scope& scope) const;
  void check_distinct_order(const PgQuery__SelectStmt& node, const Scope& scope, const Query& rows) const;
  bool is_key(const ColumnUse& use, const GroupKeys& groups) const;
  bool is_determined(const ColumnUse& use, const GroupKeys& groups) const;
  bool same_expression(const PgNode& a, const Scope& scope_of_a, const PgNode& b, const Scope& scope_of_b) const;
  void note_use(const std::string& name, const Scope::Found& found, int location, const Scope& scope);
  /// Forgets uses of the columns of `scope`, from the use with this number on.
  void forget_uses(const Scope& scope, std::size_t first);
  void forget_keys(const PgNode& node, const Scope& scope, std::size_t first);
  void forget_aggregated(const Scope& scope, std::size_t first);

  // ---- Tables ------------------------------------------------------------------------------------------------------
  SqlText create_table(const PgQuery__CreateStmt& node);
  SqlText create_table_as(const PgQuery__CreateTableAsStmt& node);
  SqlText create_view(const PgQuery__ViewStmt& node);
  SqlText create_index(const PgQuery__IndexStmt& node);
  void translate_keys(const PgQuery__IndexStmt& node, std::size_t place, std::vector<TextEdit>& edits);
  static std::string default_name(const PgQuery__IndexStmt& node);
  SqlText alter_table(const PgQuery__AlterTableStmt& node);
  void translate_column(const PgQuery__ColumnDef& definition, const PgQuery__RangeVar& table, const Scope& scope,
                        std::vector<TextEdit>& edits);
  void translate_constraints(const PgQuery__ColumnDef& definition, const Scope& scope, std::vector<TextEdit>& edits);
  void translate_constraint(const PgQuery__Constraint& node, const Column& column, const Scope& scope,
                            std::vector<TextEdit>& edits);
  static SqlText clock_default(const PgNode& initial);
  void check_identity(const PgQuery__Constraint& identity) const;
  /// Refuses types that there are not.
  void check_type(const PgQuery__TypeName& type) const;
  /// Refuses REFERENCES to a table that there is not; `created` is the table that is being made.
  void check_reference(const PgQuery__Constraint& constraint, const PgQuery__RangeVar& created);
  /// Refuses a constant DEFAULT that the column does not hold; whether it is one that is stored as it is written.
  bool is_default_that_fits(const PgNode& initial, const Column& column) const;
  static std::size_t place_of_name(const PgQuery__RangeVar& relation) {
    return static_cast<std::size_t>(relation.location);
  }
  SqlText name_of_new(const PgQuery__RangeVar& relation) const;
  static bool is_temporary(const PgQuery__RangeVar& relation);
  /// The statement as it stands there, but for the schema public before names.
  SqlText without_schema() const;

  // ---- Statements that write ---------------------------------------------------------------------------------------
  SqlText insert(const PgQuery__InsertStmt& node);
  SqlText update(const PgQuery__UpdateStmt& node);
  SqlText remove(const PgQuery__DeleteStmt& node);
  SqlText conflict(const PgQuery__OnConflictClause& node, const Scope& scope, const std::vector<Column>& columns);
  SqlText assignments(std::span<PgNode* const> targets, const Scope& scope, const std::vector<Column>& columns);
  SqlText returning(std::span<PgNode* const> targets, const Scope& scope);
  SqlText target(const PgQuery__RangeVar& node, Scope& scope);
  std::vector<bool> defaults_of(const PgQuery__InsertStmt& node) const;
  void check_counted(const PgQuery__InsertStmt& node, std::span<const Column> columns) const;
  /// The value as it is stored in the column.
  Value stored(Value value, const Column& column);
  Value stored_array(Value value, const Column& column);
  [[noreturn]] void not_stored(const Value& value, const Column& column) const;

  [[noreturn]] void unsupported(std::string_view what, int location, std::string hint = {}) const;
  SourceSpan place(int location) const;
  [[noreturn]] void refuse(std::string_view sqlstate, std::string message, int location, std::string hint = {}) const;
  std::optional<std::vector<Column>> columns_of(const std::string& schema, const std::string& table);
  std::string schema_for_sqlite(const std::string& schema, const std::string& table);

  std::string_view statement_;
  const FindColumns& find_columns_;
  const Scope* around_;
  const bool converts_;
  const std::map<std::size_t, std::string> variables_;
  std::map<std::size_t, SqlType> parameters_;
  std::map<std::size_t, std::string> array_parameters_;
  std::vector<Column> columns_;  // of the statement's rows
  struct WithQuery {
    std::vector<Column> columns;
    bool known = true;
  };
  std::map<std::string, WithQuery> with_queries_;  // by name in lower case
  std::vector<SqlText>* sets_ = nullptr;           // functions that give rows, to join to the SELECT at hand
  bool uses_catalog_ = false;
  bool of_view_ = false;        // whether the query at hand is that of CREATE VIEW
  bool has_aggregate_ = false;  // whether the SELECT at hand calls an aggregate
  bool in_aggregate_ = false;
  std::vector<ColumnUse> uses_;    // of the SELECT at hand and those around it
  std::vector<GroupKeys> groups_;  // likewise, the innermost last
  std::vector<bool> defaults_;     // of an INSERT, the positions in VALUES where DEFAULT stands in all rows
  int depth_ = 0;
};

/// The direction of a key of ORDER BY.
struct SortDirection {
  bool descends = false;
  bool nulls_first = false;
};
/// Throws NotTranslated for USING.
SortDirection direction_of(const PgQuery__SortBy& sort);

/// Whether a text of the tree is there and not empty.
inline bool is_set(const char* text) { return text != nullptr && text[0] != '\0'; }
/// The text of a String node.
std::string text_of(const PgNode& node);
/// The names in a list of String nodes.
std::vector<std::string> names_of(std::span<PgNode* const> nodes);
/// ("a", "b")
SqlText name_list(const std::vector<std::string>& names);
/// The name of a source in place of (EINSUM ...), which begins there; no name of a user's looks so.
std::string einsum_name(std::size_t begin);
/// Where the query of that name begins; nullopt for other names.
std::optional<std::size_t> place_of_einsum(std::string_view name);
/// The end of the group in parentheses that begins at `begin`; `begin` if it does not end.
std::size_t end_of_group(std::string_view statement, std::size_t begin);
/// The type of the elements of an array that CREATE TABLE names so; Any for others.
SqlType element_of(const std::string& declared);
/// The elements of an array as values of their type, for json_each().
SqlText elements_of(const Value& array);
/// The hint of an error about a value of the type: how to compute with the parts of complex numbers, or `otherwise`.
std::string hint_for(SqlType type, std::string_view otherwise = {});
/// The type of an array in CREATE TABLE: "bigint[]"; empty if that of its elements is unknown.
std::string array_declared(SqlType element, const std::string& declared = {});
/// The type of a column of a query's rows as CREATE TABLE names it: "date", "numeric(10,2)"; empty if it is unknown.
std::string declared_type(const Column& column);
/// As in engine/dialect/originals.hpp.
SqlText with_original(const SqlText& translated, std::string_view original);
/// Whether SQLite's own names of types, which PostgreSQL lacks, have this one, in lower case.
bool is_type_of_sqlite(std::string_view name);
/// Whether the texts differ in quotes and parentheses alone, and both dialects read the first in the same way.
bool means_the_same(std::string_view written, std::string_view translated);
/// The last part of a qualified name, which may have the schema pg_catalog; throws NotTranslated for other schemas.
std::string name_in_catalog(std::span<PgNode* const> names);

}  // namespace eindb::dialect
