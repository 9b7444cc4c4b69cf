#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/source_span.hpp"
#include "common/table_rights.hpp"
#include "common/user_role.hpp"

/// The syntax tree of one statement: the output of parser/parser.hpp and the input of the binder.
///
/// It has names only as text; the binder decides whether a tensor exists, how many labels it has and what a function
/// means. Every node has the span of its text in the statement, for error messages. Nodes are plain values that can be
/// copied, moved and destroyed freely; none is shared. Expressions nest at most kMaxNesting deep (parser.hpp), and a
/// chain such as a*b*c*... of any length is one node, so recursion over the tree is safe.
namespace eindb::ast {

// ---- Words and constants -------------------------------------------------------------------------------------------

/// A name as written, without its quotes. Unquoted names keep their case; keywords are compared without it, and are
/// none where `quoted`, which qualified names are.
struct Identifier {
  std::string text;
  SourceSpan span;
  bool quoted = false;
  std::uint32_t scope = 0;  ///< 0: the statement's own; otherwise the number of the macro call whose body has it
  bool qualified = false;   ///< the text begins with the schema of a tensor and a point: temp.X, other.X
};

struct Integer {
  std::int64_t value = 0;
};

/// A number with a fraction or an exponent, or too large for 64 bits; also PI, INFINITY and NAN.
struct Real {
  double value = 0;
};

/// $1, $2, ...: number counts from 1.
struct Parameter {
  std::size_t number = 0;
};

/// 'Oslo': what an index is called, as in X['Oslo',m] or city = 'Oslo'.
struct Text {
  std::string value;
};

/// The value of a setting or an option: a number, a 'string', or a bare word such as npy or on (also a string).
struct Literal {
  std::variant<std::int64_t, double, std::string> value;
  SourceSpan span;
};

/// One entry of (FORMAT npy, HEADER); HEADER has no value.
struct Option {
  Identifier name;
  std::optional<Literal> value;
};

/// The extent of a label, or a number of rounds; an Integer is not negative. A name is the variable of an enclosing
/// loop; with_loop_variable replaces it before binding.
struct Extent {
  std::variant<Integer, Parameter, Identifier> value;
  SourceSpan span;
};

/// "i 1000" in CREATE TENSOR, where the extent is always present; "i" or "i 1000" in the head of a definition.
struct Dimension {
  Identifier label;
  std::optional<Extent> extent;
  SourceSpan span;
};

// ---- Expressions ---------------------------------------------------------------------------------------------------

struct Expression;
struct WhenClause;

/// A bare identifier: a label used as a number, a tensor of rank 0, or a parameter of the enclosing macro.
struct Name {
  Identifier name;
};

/// 2:10:3 in X[2:10:3,j], as in Python: every third index from 2 to 9. Numbers may be negative, and any may be left
/// out.
struct IndexRange {
  std::optional<Extent> begin;
  std::optional<Extent> end;
  std::optional<Extent> step;
};

/// i + 1 in X[i + 1,j], or T[b] in E[T[b],d]: a computed index.
struct ComputedIndex {
  std::vector<Expression> index;  ///< exactly one
};

/// (i, j) or (i, j 3): two labels or more that number one dimension together, the last one fastest.
struct MergedIndex {
  std::vector<Dimension> labels;
};

/// One index of X[i, 3, $1, 'Oslo', 2:5, j + 1, (k, l)]. A negative integer counts from the end.
struct IndexTerm {
  std::variant<Identifier, Integer, Parameter, Text, IndexRange, ComputedIndex, MergedIndex> value;
  SourceSpan span;
};

/// The cells that a reference reads where a computed index is outside of the tensor: X[i - 1 PAD 0].
struct Padding {
  enum class Kind : std::uint8_t {
    Value,    ///< a number
    Edge,     ///< the nearest cell
    Reflect,  ///< the cells before the edge, in reverse
    Wrap,     ///< the cells at the other end
  };
  Kind kind = Kind::Value;
  std::vector<Expression> value;  ///< one for Value, otherwise none
  SourceSpan span;
};

/// X[i,j]; s[] has no terms.
struct Reference {
  Identifier name;
  std::vector<IndexTerm> terms;
  std::optional<Padding> padding;
};

enum class AggregateOp : std::uint8_t {
  Sum,
  Prod,
  Min,
  Max,
  Mean,
  Norm,  ///< the square root of the sum of the squares of absolute values
  LogSumExp,
  ArgMin,
  ArgMax,
  Any,
  All,
  Count,            ///< cells
  CountNonzero,     ///< cells that are not 0
  Variance,         ///< mean of the squares of differences from the mean
  Deviation,        ///< its square root
  SampleVariance,   ///< their sum by the number of values less one
  SampleDeviation,  ///< its square root
  Sort,             ///< the label stays
  ArgSort,
  TopK,  ///< [j, k]: of the values along j the greatest, numbered by k
  ArgTopK,
  Unique,         ///< [j, k]: the different values along j in ascending order, numbered by k
  UniqueIndex,    ///< where each of them comes first
  UniqueCount,    ///< how often each is there
  UniqueInverse,  ///< the label stays: the number of each value among the different ones
  Quantile,
  Median,
  Mode,
  CountDistinct,
  Fft,  ///< the label stays
  Ifft,
  Rfft,    ///< [j, k]: of real values along j, the first half of the transform, numbered by k
  Irfft,   ///< [k, j]: the real values along j of which k numbers the first half of the transform
  Concat,  ///< [i]: the arguments one after the other along i, each of which has an i of its own
  Stack,   ///< [k]: the arguments, numbered by k
  User,    ///< of CREATE AGGREGATE
};

struct AggregateDefinition;

/// SUM(e), SUM[j,k](e), or SUM[k 3](e) where nothing else gives k an extent.
struct Aggregate {
  AggregateOp op = AggregateOp::Sum;
  SourceSpan op_span;                            ///< of the word SUM
  std::optional<std::vector<Dimension>> labels;  ///< nullopt: the labels of the argument that the head lacks
  bool running = false;                          ///< SCAN[j](SUM, e): of the cells up to each one; the label stays
  bool descending = false;                       ///< SORT[j DESC](e)
  std::vector<Expression> argument;              ///< exactly one
  /// One for QUANTILE(e, 0.9), a constant, and SCAN(SUM, e, a); the other arguments of CONCAT and STACK; otherwise
  /// none.
  std::vector<Expression> second;
  std::optional<Identifier> name = {};  ///< set exactly for AggregateOp::User
  /// Of AggregateOp::User once macros are expanded (parser/macro).
  std::shared_ptr<const AggregateDefinition> definition = nullptr;
  /// Of CONCAT once labels are told apart (parser/binder/own_labels): the label in each argument, of those that have
  /// it.
  std::vector<std::optional<Identifier>> own = {};
};

/// f(a, b, ...): a function, a generator such as RANDOM, or a macro.
struct Call {
  Identifier function;
  std::vector<Expression> arguments;
};

enum class PrefixOp : std::uint8_t { Negate, Not, BitNot };

struct Prefix {
  PrefixOp op = PrefixOp::Negate;
  std::vector<Expression> operand;  ///< exactly one
};

enum class InfixOp : std::uint8_t {
  Or,
  And,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Add,
  Subtract,
  Multiply,
  Divide,
  Modulo,
  Power,
  Xor,
  BitAnd,
  BitOr,
  ShiftLeft,
  ShiftRight,
};

/// A chain of operators of one precedence, read from left to right: `a - b + c` is ((a - b) + c), with operators
/// {Subtract, Add} and operands {a, b, c}. Invariants: there is at least one operator, and one operand more than
/// operators; the operators are all Or, all Xor, all And, all the same operator on bits, from {Add, Subtract}, from
/// {Multiply, Divide, Modulo}, or a single comparison or Power. Parentheses start another node: `a * (b * c)` is two
/// nodes.
struct Infix {
  std::vector<InfixOp> operators;
  std::vector<Expression> operands;
};

/// CASE WHEN c THEN v ... ELSE d END, or CASE s WHEN c THEN v ... END, where c is compared with s.
struct Case {
  std::vector<Expression> subject;    ///< empty or one
  std::vector<WhenClause> branches;   ///< at least one
  std::vector<Expression> otherwise;  ///< empty or one
};

/// CAST(e AS FLOAT32).
struct Cast {
  std::vector<Expression> operand;  ///< exactly one
  Identifier type;
};

/// The span of a parenthesised expression includes its parentheses.
struct Expression {
  std::variant<Integer, Real, Parameter, Text, Name, Reference, Aggregate, Call, Prefix, Infix, Case, Cast> node;
  SourceSpan span;
};

struct WhenClause {
  Expression when;
  Expression then;
};

/// The clauses of CREATE AGGREGATE behind the function that combines two values: INITIAL e [COMMUTATIVE] [ASSOCIATIVE]
/// [IDEMPOTENT] [DISTRIBUTES OVER (+, MIN, name)].
struct AggregateClauses {
  /// A join function that the aggregate distributes over: an operator or a word in upper case, or a macro's name.
  struct Join {
    Identifier name;
    bool is_macro = false;
  };

  Expression initial;
  bool commutative = false;
  bool associative = false;
  bool idempotent = false;
  std::vector<Join> distributes_over;
};

/// The scope of the names of the two values in an AggregateDefinition, "0" and "1".
inline constexpr std::uint32_t kCombinedScope = 0xFFFFFFFF;

/// An aggregate of a user with its macros expanded.
struct AggregateDefinition {
  std::string name;
  Expression combination;
  AggregateClauses clauses;
  std::vector<std::pair<std::string, Expression>> joins;  ///< the macros that it distributes over, with their bodies
};

// ---- Queries -------------------------------------------------------------------------------------------------------

/// Z[i, k 10] = expression. `Z` without brackets has rank 0, as `Z[]` has.
struct Definition {
  /// Labels of the head that become one dimension, in Z[(i,j),k]: `count` from `first` on, the last one fastest.
  struct Merged {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  Identifier name;
  std::vector<Dimension> labels;
  Expression expression;
  SourceSpan head_span;  ///< of Z[i, k 10]
  SourceSpan span;
  std::vector<Merged> merged = {};  ///< in the order of the head
};

/// One label, or an ellipsis, of a subscript string.
struct SubscriptItem {
  std::string label;  ///< empty for an ellipsis
  SourceSpan span;

  bool is_ellipsis() const { return label.empty(); }
};

/// The subscripts of one operand or of the output: the "ij" of 'ij,jk->ik', also "[a1,b]" in the list form.
struct SubscriptTerm {
  std::vector<SubscriptItem> items;  ///< empty for a scalar; at most one ellipsis
  SourceSpan span;
};

/// The contraction order given by parentheses in a subscript string: a leaf is an operand, an inner node contracts its
/// children. '(ij,jk),kl->il' is ((0 1) 2).
struct SubscriptNesting {
  std::optional<std::size_t> operand;      ///< set exactly for leaves: an index into Subscripts::inputs
  std::vector<SubscriptNesting> children;  ///< at least one for inner nodes
  SourceSpan span;
};

/// 'ij,jk->ik' (X, Y). The binder checks that there are as many inputs as operands.
struct Subscripts {
  std::vector<SubscriptTerm> inputs;
  std::optional<SubscriptTerm> output;      ///< absent without "->": implicit output
  std::optional<SubscriptNesting> nesting;  ///< absent without parentheses
  std::vector<Identifier> operands;
  SourceSpan text_span;  ///< of the string with its quotes
};

/// (0,1): positions in the shrinking list of operands; at least one.
struct PathStep {
  std::vector<std::size_t> positions;
  SourceSpan span;
};

/// USING PATH ((0,1),(0,1)) or USING PATH 'greedy' (a string in lower case; the binder knows the names), which WITH
/// WEIGHT 5 may follow.
struct PathClause {
  std::variant<std::vector<PathStep>, std::string> value;
  std::optional<double> weight;  ///< the price of an element that a step reads or writes, in flops
  SourceSpan span;
};

/// The function of a derivative: an inline definition, or the name of an earlier definition or of a tensor.
using Derived = std::variant<Identifier, Definition>;

/// W1 AS dW1.
struct GradientVariable {
  Identifier variable;
  std::optional<Identifier> name;  ///< of the derivative; nullopt: "d" and the variable's name
  SourceSpan span;
};

/// GRADIENT OF L[] = e WITH RESPECT TO (W1 AS dW1, W2): defines L, dW1 and dW2. The derivatives are its results. L has
/// rank 0; a derivative has its variable's extents.
struct Gradient {
  Derived of;
  std::vector<GradientVariable> variables;  ///< at least one
  SourceSpan span;
};

/// X ALONG V.
struct Direction {
  Identifier variable;
  Identifier tangent;  ///< a definition or a tensor of the variable's extents
  SourceSpan span;
};

/// JVP OF Y[i] = e WITH RESPECT TO (X ALONG V, W ALONG U) [AS dY]: defines Y and its result dY, the derivative of Y
/// along the tangents.
struct Jvp {
  Derived of;
  std::vector<Direction> directions;  ///< at least one
  std::optional<Identifier> name;     ///< of the derivative; nullopt: "d" and the function's name
  SourceSpan span;
};

/// (Q, R) = QR(A[i,j]): defines Q and R.
struct MatrixResults {
  std::vector<Identifier> names;  ///< at least one, distinct
  Expression call;
  SourceSpan span;
};

/// One of the comma-separated items between WITH and the body.
using WithItem = std::variant<Definition, Gradient, Jvp, MatrixResults>;

/// EINSUM (Q, R): several definitions are the results, by name.
struct ResultNames {
  std::vector<Identifier> names;  ///< at least one, distinct
  SourceSpan span;
};

/// The cells of a tensor that an update sets: X[0:10,j], X[3,j], W[tokens[b],d].
struct Region {
  std::vector<Expression> cells;  ///< one Reference; none where the update sets all cells
  bool adds = false;              ///< the values are added to the cells, those of one cell one after the other
};

/// W[a,h] = e, X[0:10,j] = f: new values of tensors of the catalog, or of parts of them. Only the body of UPDATE
/// TENSOR.
struct Updates {
  std::vector<Definition> definitions;  ///< at least one, of distinct tensors; without labels where it has a region
  std::vector<Region> regions;          ///< of each definition
  SourceSpan span;

  /// Whether all of them set all cells.
  bool are_whole() const {
    for (const auto& region : regions)
      if (!region.cells.empty()) return false;
    return true;
  }
};

/// [WITH items] EINSUM body [USING PATH ...], or [WITH items] GRADIENT OF ... [USING PATH ...], or JVP OF ...
struct Query {
  std::vector<WithItem> with;
  std::variant<Definition, Subscripts, ResultNames, Gradient, Jvp, Updates> body;
  std::optional<PathClause> path;  ///< of the body's definition
  SourceSpan span;
};

/// A query in parentheses inside SQL, where SQL takes a table. `span` includes the parentheses.
struct EmbeddedQuery {
  Query query;
  SourceSpan span;
};

/// Text for SQLite, unchanged except for the embedded queries.
struct Sql {
  std::string text;                    ///< the statement's text at `span`
  std::vector<EmbeddedQuery> queries;  ///< in the order of the text; do not overlap
  SourceSpan span;
};

// ---- Statements ----------------------------------------------------------------------------------------------------

/// Parts per dimension: PARTITION (4, 8); all positive.
struct PartitionClause {
  std::vector<std::int64_t> parts;
  SourceSpan span;
};

/// REPLICAS 2: copies of each tile, at least 1.
struct ReplicasClause {
  std::int64_t count = 1;
  SourceSpan span;
};

/// What happens to views that read what is dropped.
enum class DropBehavior : std::uint8_t {
  Plain,     ///< they stay, and are errors when they are read
  Cascade,   ///< they are dropped, too
  Restrict,  ///< nothing is dropped if there are any
};

/// A clause that names the indices of a dimension, and so gives its extent.
struct NamesClause {
  /// FROM '2024-01-01' TO '2024-12-31' [STEP '1 month']: days or times of a calendar.
  struct Calendar {
    std::string first;
    std::string last;
    std::string step;
  };

  std::variant<std::vector<std::string>, Sql, Calendar> source;  ///< IN ('a', 'b') and IN (SELECT ...) are lists
  SourceSpan span;
};

/// "i 1000", or a label with names of its indices, which give the extent: "city IN ('Oslo', 'Bergen')".
struct DeclaredDimension {
  Dimension dimension;
  std::optional<NamesClause> names;
};

/// CREATE [OR REPLACE] [TEMP] TENSOR [IF NOT EXISTS] X (i 1000, city IN (...), ...) [FLOAT64] [PARTITION (...)]
/// [REPLICAS n] [AS query | AS SELECT ...].
struct CreateTensor {
  Identifier name;          ///< without a schema
  bool temporary = false;   ///< without REPLICAS
  bool or_replace = false;  ///< not with IF NOT EXISTS
  bool if_not_exists = false;
  std::optional<std::vector<DeclaredDimension>> dimensions;  ///< present unless the source is a Query
  std::optional<Identifier> type;
  std::optional<PartitionClause> partition;
  std::optional<ReplicasClause> replicas;
  std::variant<std::monostate, Query, Sql> source;
};

/// CREATE [OR REPLACE] [TEMP] TENSOR [IF NOT EXISTS] (dW1, dW2, L) [REPLICAS n] AS query: creates all of them or none.
/// Each name is that of a result of the query, or of a definition in it.
struct CreateTensors {
  std::vector<Identifier> names;  ///< at least one, distinct
  bool temporary = false;         ///< without REPLICAS
  bool or_replace = false;
  bool if_not_exists = false;  ///< existing tensors are left alone, the others are created
  std::optional<ReplicasClause> replicas;
  Query query;
};

/// [WITH items] UPDATE TENSOR W[a,h] = e, V[h] = f [USING PATH ...]: every cell of W and V gets its new value, all at
/// once; expressions read the old values. A tensor keeps its type, partition and replicas.
struct UpdateTensor {
  Query query;  ///< its body is Updates; it has a path only if there is a single definition
};

/// DROP TENSOR [IF EXISTS] a, b [CASCADE | RESTRICT].
struct DropTensor {
  std::vector<Identifier> names;  ///< at least one
  bool if_exists = false;
  DropBehavior behavior = DropBehavior::Plain;
};

/// EXTEND (i 2000, city IN ('Oslo', 'Bodø')): larger extents, or further names, with zeros behind the other cells.
struct ExtendClause {
  std::vector<DeclaredDimension> dimensions;  ///< at least one, of distinct labels
};

/// RENAME LABEL i TO row.
struct LabelRenaming {
  Identifier label;
  Identifier new_name;
};

/// TYPE BFLOAT16: values are converted, and rounded where the type has fewer.
struct TypeClause {
  Identifier type;
};

/// ALTER TENSOR X RENAME TO Y | RENAME LABEL i TO j | PARTITION (8, 8) | REPLICAS 2 | EXTEND (i 2000) | TYPE BFLOAT16.
struct AlterTensor {
  Identifier name;
  std::variant<Identifier, PartitionClause, ReplicasClause, ExtendClause, LabelRenaming, TypeClause> change;
};

/// ANALYZE TENSOR [X]: makes the statistics of one tensor, or of all.
struct AnalyzeTensor {
  std::optional<Identifier> name;
};

struct ShowTensors {};

/// SHOW MACROS: lists the user's own macros and aggregates; SHOW AGGREGATES: those alone.
struct ShowMacros {
  bool aggregates_alone = false;
};

struct Describe {
  Identifier name;
};

/// SHOW TENSORS IN 'model.safetensors' (options of COPY FROM).
struct ShowFileTensors {
  std::string path;
  SourceSpan path_span;
  std::vector<Option> options;
};

/// COPY ALL FROM 'model.safetensors' (options): every tensor of a file under its own name.
struct CopyAllFrom {
  std::string path;
  SourceSpan path_span;
  std::vector<Option> options;
};

struct CopyFrom {
  Identifier tensor;
  std::string path;
  SourceSpan path_span;
  std::vector<Option> options;
};

struct CopyTo {
  std::variant<Identifier, Query, Sql> source;
  std::string path;
  SourceSpan path_span;
  std::vector<Option> options;
};

/// BACKUP TO 'copy.db': a copy of the whole database in a new file.
struct Backup {
  std::string path;
  SourceSpan path_span;
};

/// ATTACH [DATABASE] 'other.db' AS other: from then on statements of the session read that database, too.
struct AttachDatabase {
  std::string path;
  SourceSpan path_span;
  Identifier name;
};

/// DETACH [DATABASE] other
struct DetachDatabase {
  Identifier name;
};

/// (0, 3, 1.5): one number per dimension, then the value; constant expressions.
struct InsertRow {
  std::vector<Expression> values;
  SourceSpan span;
};

/// INSERT INTO TENSOR X VALUES (...), or SELECT ...; with AT (i) the cells are appended along i, whose indices count
/// from its end, and EINSUM may give them.
struct InsertInto {
  Identifier tensor;
  std::optional<Identifier> along;
  std::vector<InsertRow> rows;
  std::optional<Sql> query;       ///< in the place of rows
  std::optional<Query> appended;  ///< likewise, with AT
};

enum class ExplainFormat : std::uint8_t { Text, Json, Dot };

/// EXPLAIN [ANALYZE] query, or EXPLAIN (ANALYZE, COMPARE, FORMAT json) query.
struct Explain {
  bool analyze = false;
  bool compare = false;
  ExplainFormat format = ExplainFormat::Text;
  Query query;
};

struct Set {
  Identifier name;
  Literal value;
};

struct Show {
  std::optional<Identifier> name;  ///< absent: SHOW ALL
};

struct Reset {
  std::optional<Identifier> name;  ///< absent: RESET ALL
};

enum class TransactionMode : std::uint8_t { Deferred, Immediate, Exclusive };

/// BEGIN [DEFERRED | IMMEDIATE | EXCLUSIVE] [READ ONLY | READ WRITE] [ISOLATION LEVEL ...] [[NOT] DEFERRABLE].
struct Begin {
  TransactionMode mode = TransactionMode::Deferred;
  bool read_only = false;
};
struct Commit {};
struct Rollback {};

/// SET TRANSACTION, with the modes of BEGIN.
struct SetTransaction {
  std::optional<bool> read_only;
};

/// SAVEPOINT a; RELEASE [SAVEPOINT] a; ROLLBACK TO [SAVEPOINT] a.
struct Savepoint {
  enum class Use : std::uint8_t { Set, Release, RollBackTo };
  Use use = Use::Set;
  Identifier name;
  SourceSpan span;  ///< of the statement
};

struct Statement;

/// PREPARE name AS statement. Spans in `statement` refer to its own text, `body`.
struct Prepare {
  Identifier name;
  std::vector<std::string> types;  ///< of the parameters, if they are stated: PREPARE p(int, date)
  std::string body;
  SourceSpan body_span;  ///< in the text of PREPARE
  std::shared_ptr<const Statement> statement;
  std::size_t parameter_count = 0;
};

struct Null {};

/// EXECUTE name (arguments): constant expressions and, for prepared SQL, strings and NULL.
struct Execute {
  Identifier name;
  std::vector<std::variant<Expression, Literal, Null>> arguments;
};

struct Deallocate {
  std::optional<Identifier> name;  ///< absent: DEALLOCATE ALL
};

/// CREATE [OR REPLACE] {MACRO | FUNCTION | AGGREGATE} [IF NOT EXISTS] softmax(x, l) AS expression. A function is a
/// macro whose body depends on its parameters alone, and so is what an aggregate combines two values with.
struct CreateMacro {
  Identifier name;
  bool is_function = false;
  bool or_replace = false;
  bool if_not_exists = false;
  std::vector<Identifier> parameters;
  Expression body;
  std::optional<AggregateClauses> aggregate = {};  ///< set exactly for AGGREGATE
  std::string body_text;  ///< the text stored in the catalog, of the body and what follows it; it is parsed again
};

struct DropMacro {
  Identifier name;
  bool is_function = false;  ///< DROP FUNCTION, which drops the same as DROP MACRO
  bool if_exists = false;
  bool is_aggregate = false;  ///< DROP AGGREGATE
};

/// COMMENT ON TABLE t IS 'text'; IS NULL removes the comment. A tensor is a TENSOR or a TABLE.
struct CommentOn {
  enum class What : std::uint8_t { Table, View, Index, Tensor, Column };

  What what = What::Table;
  Identifier object;
  std::optional<Identifier> column;  ///< of What::Column
  std::optional<std::string> text;
};

/// PASSWORD 'secret', or the text of a verifier instead. Messages show only the position of the word PASSWORD.
struct Password {
  std::string text;
  SourceSpan word_span;
};

/// CREATE USER ann [WITH] PASSWORD '...' [READ ONLY | READ WRITE | ADMIN | RESTRICTED].
struct CreateUser {
  Identifier name;
  Password password;
  UserRole role = UserRole::ReadWrite;
};

/// ALTER USER ann [WITH] [PASSWORD '...'] [READ ONLY | READ WRITE | ADMIN | RESTRICTED]: at least one of the two.
struct AlterUser {
  Identifier name;
  std::optional<Password> password;
  std::optional<UserRole> role;
};

struct DropUser {
  Identifier name;
  bool if_exists = false;
};

/// GRANT rights ON names TO users; REVOKE rights ON names FROM users.
struct Grant {
  enum class On : std::uint8_t { Any, Tables, Tensors, AllTables, AllTensors };
  bool revokes = false;
  Rights rights = kNoRights;
  On on = On::Any;
  std::vector<Identifier> objects;  ///< none of AllTables and AllTensors
  std::vector<Identifier> users;
};

struct ShowUsers {};

struct ShowWorkers {};

/// DRAIN WORKER '10.0.0.3:7700': the worker finishes its running work and leaves.
struct DrainWorker {
  std::string address;
  SourceSpan span;
};

/// A statement with only spaces and comments.
struct Empty {};

/// REPEAT 100 [AS t] [UNTIL e] [COMMIT EVERY 10] { statement; statement; ... }: runs the body `count` times, or until
/// `until`, a scalar expression over tensors, is not zero after a round. t is the number of the round, from 0.
struct Repeat {
  Extent count;
  std::optional<Identifier> variable;
  std::optional<Expression> until;
  std::optional<Extent> commit_every;  ///< rounds per transaction; nullopt: 1
  std::vector<Statement> body;         ///< at least one; no BEGIN, COMMIT, ROLLBACK or PREPARE among them
  std::string text;                    ///< of the whole statement, by which an interrupted one is known again; empty in
                                       ///< a loop inside of another
  std::size_t parameter_count = 0;     ///< of the whole statement, see count_parameters; 0 in a nested loop
};

struct Statement {
  std::variant<Empty, CreateTensor, DropTensor, AlterTensor, AnalyzeTensor, ShowTensors, ShowFileTensors, ShowMacros,
               Describe, CopyFrom, CopyAllFrom, CopyTo, Backup, AttachDatabase, DetachDatabase, InsertInto,
               CreateTensors, UpdateTensor, Repeat, Query, Explain, Set, Show, Reset, Begin, Commit, Rollback,
               SetTransaction, Savepoint, Prepare, Execute, Deallocate, CreateMacro, DropMacro, CommentOn, CreateUser,
               AlterUser, DropUser, Grant, ShowUsers, ShowWorkers, DrainWorker, Sql>
      node;
  SourceSpan span;  ///< without the semicolon
};

}  // namespace eindb::ast
