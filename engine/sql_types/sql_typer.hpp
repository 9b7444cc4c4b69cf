#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "engine/sql_types/name_scope.hpp"
#include "engine/sql_types/sql_reader.hpp"
#include "engine/sql_types/sql_types.hpp"

namespace eindb {

/// One pass over a statement from left to right. It infers the types of expressions, and the types of parameters from
/// the operands beside them. The next pass uses the parameter types found.
///
/// Expressions are in sql_typer_expressions.cpp, by SQLite's precedence; queries in sql_typer_queries.cpp; statements
/// in sql_types.cpp. Throws UnknownSql for text that it does not understand.
class SqlTyper {
 public:
  SqlTyper(const std::vector<Token>& tokens, const SqlNames& names, std::vector<ValueType>& parameters,
           std::optional<ComplexMisuse>& misuse)
      : reader_(tokens), names_(names), parameters_(parameters), misuse_(misuse) {}

  /// The columns of the rows that the statement returns.
  std::vector<TypedColumn> statement();

 private:
  /// The type of an expression. A parameter alone takes the type of the operand that it is compared with.
  struct Value {
    ValueType type = ValueType::Unknown;
    std::size_t parameter = 0;  // 0: none
    bool complex = false;       // as TypedColumn::complex
    bool shown = false;         // a text that shows complex numbers, as the user wants it: CAST(val AS TEXT), val || ''

    bool is_open() const { return parameter != 0 && type == ValueType::Unknown; }
  };
  /// Queries of a WITH, by name in lower case.
  using WithQueries = std::map<std::string, std::vector<TypedColumn>>;
  /// A query in WITH that may read its own rows: its first SELECT determines the columns.
  struct Recursion {
    std::string key;
    std::vector<std::string> names;
  };

  class Nesting;

  // ---- Expressions -------------------------------------------------------------------------------------------------
  Value expression(const NameScope& scope);
  /// `word` names the place for messages: WHERE.
  void condition(const NameScope& scope, const Token& word);
  /// The keys behind ORDER, which is the next word.
  void sort_keys(const NameScope& scope);
  Value conjunction(const NameScope& scope);
  Value negation(const NameScope& scope);
  Value equality(const NameScope& scope);
  bool equality_tail(Value& left, const NameScope& scope);
  Value comparison(const NameScope& scope);
  Value bits(const NameScope& scope);
  Value sum(const NameScope& scope);
  Value product(const NameScope& scope);
  Value concatenation(const NameScope& scope);
  Value unary(const NameScope& scope);
  Value primary(const NameScope& scope);
  Value word(const NameScope& scope);
  Value column_or_call(const NameScope& scope);
  Value call(const Token& function, const NameScope& scope);
  void skip_call_tail(const NameScope& scope);
  Value parentheses(const NameScope& scope);
  Value case_of(const NameScope& scope);
  Value cast(const NameScope& scope);
  Value parameter();
  void in_list(const Token& op, Value& left, const NameScope& scope);
  std::vector<Value> list(const NameScope& scope);
  Value arithmetic(const Token& op, Value left, Value right);
  /// Notes an operation that wants real numbers and gets complex ones.
  void require_real(const Token& operation, std::initializer_list<Value> operands);
  /// The same for rows that a table stores.
  void require_real_columns(const Token& operation, const std::vector<TypedColumn>& columns);
  /// The same for = and <>, which may compare the texts of complex numbers, but not these with numbers.
  void require_comparable(const Token& operation, const Value& left, const Value& right);
  /// Relates operands of the same type: a parameter among them takes the type of the other.
  void relate(const Value& left, const Value& right);
  void relate_all(const std::vector<Value>& values);
  void settle(const Value& value, ValueType type);
  Value truth() const { return {ValueType::Boolean}; }

  // ---- Queries -----------------------------------------------------------------------------------------------------
  /// SELECT or VALUES with all its clauses, and a WITH before it if there is one. `targets`: the columns of an INSERT,
  /// which give their types to parameters that stand alone.
  std::vector<TypedColumn> query(const NameScope* outer, const std::vector<TypedColumn>* targets = nullptr);
  std::vector<TypedColumn> query_core(const NameScope* outer, const std::vector<TypedColumn>* targets);
  std::vector<TypedColumn> select(const NameScope* outer, const std::vector<TypedColumn>* targets);
  std::vector<TypedColumn> values(const NameScope* outer, const std::vector<TypedColumn>* targets);
  void compound_tail(const NameScope* outer, const std::vector<TypedColumn>& columns);
  void with(const NameScope* outer);
  void with_query(const NameScope* outer);
  bool mentions(std::size_t begin, const std::string& name) const;
  std::vector<TypedColumn> result_columns(const NameScope& scope, const std::vector<TypedColumn>* targets);
  void result_column(std::vector<TypedColumn>& columns, const NameScope& scope,
                     const std::vector<TypedColumn>* targets);
  std::optional<std::vector<TypedColumn>> star(const NameScope& scope);
  std::string result_name(std::size_t begin);
  std::size_t find_from() const;
  void sources(NameScope& scope);
  void source(NameScope& scope);
  NamedSource table(const NameScope& scope);
  bool join(NameScope& scope);
  std::optional<std::vector<TypedColumn>> columns_of(const std::string& schema, const std::string& name) const;
  std::vector<std::string> names_in_parentheses();
  std::string result_alias();
  std::string table_alias();

  // ---- Statements --------------------------------------------------------------------------------------------------
  std::vector<TypedColumn> insert();
  std::vector<TypedColumn> update();
  std::vector<TypedColumn> remove();
  std::vector<TypedColumn> create_view();
  NamedSource target();
  void assignments(const NameScope& scope, const std::vector<TypedColumn>& columns, const Token& operation);
  void conflict_clauses(const NameScope& scope, const std::vector<TypedColumn>& columns);
  std::vector<TypedColumn> returning(const NameScope& scope);
  void optional_where(const NameScope& scope);

  SqlReader reader_;
  const SqlNames& names_;
  std::vector<ValueType>& parameters_;
  std::optional<ComplexMisuse>& misuse_;
  WithQueries with_queries_;
  std::optional<Recursion> recursion_;  // of the query that begins next
  int depth_ = 0;
};

/// One level of nesting. The limit keeps clients from exhausting the stack.
class SqlTyper::Nesting {
 public:
  explicit Nesting(SqlTyper& typer) : depth_(typer.depth_) {
    DCHECK(depth_ >= 0, "no more levels end than begin");
    if (++depth_ <= kDeepest) return;
    --depth_;
    throw UnknownSql();
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  static constexpr int kDeepest = 100;
  int& depth_;
};

}  // namespace eindb
