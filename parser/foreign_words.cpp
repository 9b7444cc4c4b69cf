#include "parser/foreign_words.hpp"

#include <algorithm>
#include <array>

#include "parser/token.hpp"

namespace eindb {
namespace {

struct ForeignWord {
  std::string_view word;
  std::string_view hint;
};

constexpr std::array kFunctions = std::to_array<ForeignWord>({
    {"ABSOLUTE", "write ABS(x)"},
    {"ARANGE", "a label is its own index: EINSUM Z[i 10] = i"},
    {"ARCCOS", "write ACOS(x)"},
    {"ARCSIN", "write ASIN(x)"},
    {"ARCTAN", "write ATAN(x)"},
    {"ASINH", "write LOG(x + SQRT(x^2 + 1))"},
    {"ATANH", "write LOG((1 + x) / (1 - x)) / 2"},
    {"AVERAGE", "write MEAN(x)"},
    {"BINCOUNT", "write SUM[i](CASE WHEN bin = X[i] THEN 1 ELSE 0 END), with the extent of bin in the head"},
    {"BITAND", "write x & y"},
    {"BITNOT", "write ~x"},
    {"BITOR", "write x | y"},
    {"BITSHIFTLEFT", "write x << n"},
    {"BITSHIFTRIGHT", "write x >> n"},
    {"BITWISE_AND", "write x & y"},
    {"BITWISE_NOT", "write ~x"},
    {"BITWISE_OR", "write x | y"},
    {"BITWISE_XOR", "write BITXOR(x, y)"},
    {"BMM", "write SUM[j](X[b,i,j] * Y[b,j,k])"},
    {"CAT", "write CONCAT[i](X[i,j], Y[i,j])"},
    {"CBRT", "write SIGN(x) * ABS(x)^(1/3)"},
    {"CDIST", "write SQRT(SUM[j]((X[a,j] - Y[b,j])^2))"},
    {"CEILING", "write CEIL(x)"},
    {"CLAMP", "write LEAST(GREATEST(x, low), high)"},
    {"CLIP", "write LEAST(GREATEST(x, low), high)"},
    {"CONCATENATE", "write CONCAT[i](X[i,j], Y[i,j])"},
    {"CONV", "write SUM[k](X[i+k] * W[k])"},
    {"CONV1D", "write SUM[k](X[i+k] * W[k])"},
    {"CONV2D", "write SUM[c,u,v](X[b,c,y+u,x+v] * W[o,c,u,v])"},
    {"CONVOLVE", "write SUM[k](X[i-k PAD 0] * W[k])"},
    {"COUNTIF", "write COUNT_NONZERO(condition)"},
    {"DIAG", "X[i,i] is the diagonal of X, and CASE WHEN i = j THEN v[i] ELSE 0 END has v on its diagonal"},
    {"DIFF", "write X[1:] - X[:-1]"},
    {"DOT", "write SUM(X[i,j] * Y[j,k])"},
    {"EIGVALSH", "write (w, V) = EIGH(X[i,j]) in WITH"},
    {"EMBEDDING", "an index may be a tensor of INT64: X[tokens[b],j]"},
    {"EXP2", "write 2^x"},
    {"EYE", "write CASE WHEN i = j THEN 1 ELSE 0 END, with extents in the head"},
    {"FACTORIAL", "write PROD[k](k + 1) over a label k of that extent"},
    {"FLATTEN", "labels in parentheses become one dimension: EINSUM Z[(i,j)] = X[i,j]"},
    {"FLIP", "write X[::-1]"},
    {"GATHER", "an index may be a tensor of INT64: X[index[b],j]"},
    {"HISTOGRAM",
     "write SUM[i](CASE WHEN bin = CAST(FLOOR(x) AS INT64) THEN 1 ELSE 0 END), with the extent of bin in the head"},
    {"HYPOT", "write SQRT(x^2 + y^2)"},
    {"INDEX_ADD", "write UPDATE TENSOR X[index[b],j] += Y[b,j]"},
    {"INDEX_SELECT", "an index may be a tensor of INT64: X[index[b],j]"},
    {"INV", "write INVERSE(X[i,j])"},
    {"KRON", "write EINSUM Z[(i,k),(j,l)] = X[i,j] * Y[k,l]"},
    {"LAG", "write X[i-1 PAD 0]"},
    {"LEAD", "write X[i+1 PAD 0]"},
    {"LERP", "write x + (y - x) * t"},
    {"LINSPACE", "write low + (high - low) * i / 9, with i 10 in the head"},
    {"LOGISTIC", "write SIGMOID(x)"},
    {"LOGCUMSUMEXP", "write CUMLOGSUMEXP[j](x)"},
    {"LOG_SOFTMAX", "write X[i,j] - LOGSUMEXP[j](X[i,j])"},
    {"MATMUL", "write SUM(X[i,j] * Y[j,k])"},
    {"MATRIX_EXP", "write EXPM(X[i,j])"},
    {"MAXIMUM", "write GREATEST(x, y)"},
    {"MINIMUM", "write LEAST(x, y)"},
    {"MSE_LOSS", "write MEAN((X[i] - Y[i])^2)"},
    {"NANSUM", "write SUM(CASE WHEN x = x THEN x ELSE 0 END)"},
    {"NNZ", "write COUNT_NONZERO(x)"},
    {"NORMAL", "write RANDN(seed)"},
    {"ONES", "write 1, with extents in the head: EINSUM Z[i 3] = 1"},
    {"ONES_LIKE", "write 1, with extents in the head: EINSUM Z[i 3] = 1"},
    {"ONE_HOT", "write index[b] = k, with the extent of k in the head"},
    {"OUTER", "write X[i] * Y[j], with both labels in the head"},
    {"PAD", "write X[i-1 PAD 0], with the extent of i in the head"},
    {"PERMUTE", "order the labels: EINSUM Z[j,i] = X[i,j]"},
    {"PRODUCT", "write PROD(x)"},
    {"RAND", "write RANDOM(seed)"},
    {"RANGE", "a label is its own index: EINSUM Z[i 10] = i"},
    {"RAVEL", "labels in parentheses become one dimension: EINSUM Z[(i,j)] = X[i,j]"},
    {"RECIPROCAL", "write 1 / x"},
    {"RESHAPE", "labels in parentheses are one dimension: EINSUM Z[(i,j),k] = X[i,j,k], EINSUM Z[i,j] = X[(i, j 3)]"},
    {"ROLL", "write X[i-1 PAD WRAP]"},
    {"SCATTER_ADD", "write UPDATE TENSOR X[index[b],j] += Y[b,j]"},
    {"SQUARE", "write x^2"},
    {"SQUEEZE", "hold the index: X[0,j]"},
    {"SVDVALS", "write (U, s, V) = SVD(X[i,j]) in WITH"},
    {"TILE", "write X[i % 3], with the extent of i in the head"},
    {"TOTAL", "write SUM(x)"},
    {"TRACE", "write SUM(X[i,i])"},
    {"TRANSPOSE", "order the labels: EINSUM Z[j,i] = X[i,j]"},
    {"TRIL", "write CASE WHEN j <= i THEN X[i,j] ELSE 0 END"},
    {"TRIU", "write CASE WHEN j >= i THEN X[i,j] ELSE 0 END"},
    {"UNIFORM", "write RANDOM(seed)"},
    {"UNSQUEEZE", "give the head a label of extent 1: EINSUM Z[n 1,i] = X[i]"},
    {"WHERE", "write CASE WHEN condition THEN a ELSE b END"},
    {"ZEROS", "CREATE TENSOR Z (i 3) makes zeros; in an expression write 0, with extents in the head"},
    {"ZEROS_LIKE", "write 0, with extents in the head: EINSUM Z[i 3] = 0"},
});

constexpr std::array kStatements = std::to_array<ForeignWord>({
    {"ABORT", "write ROLLBACK"},
    {"APPEND", "write INSERT INTO TENSOR X AT (i) SELECT ..., which appends along i"},
    {"CALL", "a query starts with EINSUM or SELECT"},
    {"EXIT", "in the shell, .quit or Ctrl-D leaves"},
    {"EXPORT", "write COPY X TO 'x.npy'"},
    {"FOR", "a loop is REPEAT 10 AS t { ...; ...; }"},
    {"GRAD", "write GRADIENT OF L WITH RESPECT TO (W)"},
    {"HELP", "in the shell, .help lists the commands"},
    {"IMPORT", "write COPY X FROM 'x.npy'"},
    {"KILL", "a server has sessions to kill: eindb serve"},
    {"LIST", "SHOW TENSORS lists the tensors"},
    {"LOAD", "write COPY X FROM 'x.npy'"},
    {"LOOP", "a loop is REPEAT 10 AS t { ...; ...; }"},
    {"MERGE", "INSERT INTO TENSOR X VALUES (key..., value) sets cells; for tables there is INSERT ... ON CONFLICT"},
    {"PRINT", "a query prints its result: EINSUM Z[i,j] = X[i,j]"},
    {"QUIT", "in the shell, .quit or Ctrl-D leaves"},
    {"SAVE", "write COPY X TO 'x.npy'; tensors are stored as they are made"},
    {"TRUNCATE", "DROP TENSOR drops a tensor; DELETE FROM empties a table"},
    {"UNLOAD", "write COPY X TO 'x.npy'"},
    {"USE", "name the database when the program starts, or read another one: ATTACH 'other.db' AS other"},
    {"WHILE", "a loop is REPEAT 10 UNTIL loss < 0.1 { ...; ...; }"},
});

constexpr std::array kOperators = std::to_array<ForeignWord>({
    {".", "there are no methods: functions stand alone, as EXP(x); X[j,i] is the transpose of X[i,j]"},
    {"AXIS", "labels to aggregate over stand in brackets: SUM[j](x)"},
    {"BY", "labels to aggregate over stand in brackets: SUM[j](x)"},
    {"FROM", "use SQL around the query: SELECT * FROM (EINSUM ...) ORDER BY val"},
    {"GROUP", "the labels of the head are the groups; for SQL around a query: SELECT * FROM (EINSUM ...) ORDER BY val"},
    {"LIMIT", "use SQL around the query: SELECT * FROM (EINSUM ...) ORDER BY val"},
    {"MOD", "write x % y"},
    {"OPTIMIZE", "the order of contraction is given by USING PATH 'greedy'"},
    {"ORDER", "use SQL around the query: SELECT * FROM (EINSUM ...) ORDER BY val"},
    {"OVER", "labels to aggregate over stand in brackets: SUM[j](x)"},
    {"PAD", "PAD stands before the bracket closes: X[i-1,j PAD 0]"},
    {"PATH", "write USING PATH"},
    {"SELECT", "put the query in parentheses: SELECT * FROM (EINSUM ...)"},
    {"WHERE", "use SQL around the query: SELECT * FROM (EINSUM ...) ORDER BY val"},
});

constexpr std::array kValues = std::to_array<ForeignWord>({
    {"FALSE", "write 0"},
    {"NONE", "a value that is missing is NULL, which is NAN"},
    {"TRUE", "write 1"},
});

template <class Table>
std::string find(const Table& table, std::string_view word) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return equal_ignoring_case(row.word, word); });
  return found == table.end() ? "" : std::string(found->hint);
}

}  // namespace

std::string hint_for_function(std::string_view name) { return find(kFunctions, name); }
std::string hint_for_statement(std::string_view word) { return find(kStatements, word); }
std::string hint_for_operator(std::string_view word) { return find(kOperators, word); }
std::string hint_for_value(std::string_view name) { return find(kValues, name); }

}  // namespace eindb
