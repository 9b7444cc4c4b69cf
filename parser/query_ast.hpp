#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/source_span.hpp"

/// The syntax trees of queries: names, constants, expressions, definitions with their gradients and orders, and SQL
/// with queries in it. parser/ast.hpp says what holds for all nodes.
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

/// Where a range begins or ends: a number, or the name of an index, that may be a parameter. Of a loop's variable as in
/// Extent.
struct RangeBound {
  std::variant<Integer, Parameter, Identifier, Text> value;
  SourceSpan span;
};

/// 2:10:3 in X[2:10:3,j], as in Python: every third index from 2 to 9; 'a':'c' likewise, by names of indices. Numbers
/// may be negative, and any may be left out.
struct IndexRange {
  std::optional<RangeBound> begin;
  std::optional<RangeBound> end;
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

/// USING PARTITION (i 4, j 2): the numbers of parts that labels are cut into wherever they occur. Others stay whole.
struct CutsClause {
  struct Cut {
    Identifier label;
    std::int64_t parts = 1;  ///< at least 1
  };
  std::vector<Cut> cuts;
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

/// [WITH items] EINSUM body [USING PATH ...] [USING PARTITION ...], or the same with GRADIENT OF ... or JVP OF ...
struct Query {
  std::vector<WithItem> with;
  std::variant<Definition, Subscripts, ResultNames, Gradient, Jvp, Updates> body;
  std::optional<PathClause> path;  ///< of the body's definition
  std::optional<CutsClause> partition;
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

}  // namespace eindb::ast
