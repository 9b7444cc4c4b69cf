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
#include "parser/query_ast.hpp"

/// The syntax tree of one statement: the output of parser/parser.hpp and the input of the binder.
///
/// It has names only as text; the binder decides whether a tensor exists, how many labels it has and what a function
/// means. Every node has the span of its text in the statement, for error messages. Nodes are plain values that can be
/// copied, moved and destroyed freely; none is shared. Expressions nest at most kMaxNesting deep (parser.hpp), and a
/// chain such as a*b*c*... of any length is one node, so recursion over the tree is safe.
namespace eindb::ast {

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

enum class ExplainFormat : std::uint8_t { Text, Json, Dot, Html };

/// EXPLAIN [ANALYZE] query, or EXPLAIN (ANALYZE, COMPARE, FORMAT json) query.
struct Explain {
  bool analyze = false;
  bool compare = false;
  ExplainFormat format = ExplainFormat::Text;
  Query query;
};

/// EXPLAIN [(FORMAT json)] REDISTRIBUTE [tensor] FROM 'type' TO 'type' [ON 'mesh'].
struct ExplainRedistribution {
  ExplainFormat format = ExplainFormat::Text;
  std::optional<Identifier> tensor;  ///< of which the types are, if that is to be checked
  Literal source;                    ///< texts: "[3{x}12, 2{y}12]"
  Literal target;
  std::optional<Literal> mesh;  ///< "{x:4, y:6}"; absent: what the types tell
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

/// ALTER WORKER '10.0.0.3:7700' DRAIN: the worker's tiles move to the others, and new ones go there. ALTER WORKER ...
/// ACTIVATE: it keeps tiles as the others do.
struct AlterWorker {
  std::string address;
  bool leaves = false;
  SourceSpan span;  ///< of the address
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
               CreateTensors, UpdateTensor, Repeat, Query, Explain, ExplainRedistribution, Set, Show, Reset, Begin,
               Commit, Rollback, SetTransaction, Savepoint, Prepare, Execute, Deallocate, CreateMacro, DropMacro,
               CommentOn, CreateUser, AlterUser, DropUser, Grant, ShowUsers, ShowWorkers, DrainWorker, AlterWorker, Sql>
      node;
  SourceSpan span;  ///< without the semicolon
};

}  // namespace eindb::ast
