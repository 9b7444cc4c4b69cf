// The messages of syntax errors: expectation, finding, position and hint. Any invalid text gives such an error and no
// other failure.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "parser/parser.hpp"
#include "parser/statement_splitter.hpp"

namespace eindb {
namespace {

struct Mistake {
  const char* text;
  std::size_t line;
  std::size_t column;
  const char* message;
  const char* hint = "";
};

void expect_all(std::initializer_list<Mistake> mistakes) {
  for (const auto& mistake : mistakes) {
    try {
      parse_statement(mistake.text);
      ADD_FAILURE() << "no error: " << mistake.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Syntax) << mistake.text;
      EXPECT_EQ(error.message(), mistake.message) << mistake.text;
      EXPECT_EQ(error.hint(), mistake.hint) << mistake.text;
      const auto place = locate(mistake.text, error.span().value().begin);
      EXPECT_EQ(place.line, mistake.line) << mistake.text;
      EXPECT_EQ(place.column, mistake.column) << mistake.text;
    }
  }
}

constexpr const char* kDimensionHint = "a dimension is a label and its extent: (i 1000, j 2000)";
constexpr const char* kQueryHint = "a query starts with EINSUM or SELECT: EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])";
constexpr const char* kProductHint = "write * for a product; labels stand in brackets: X[i,j]";
constexpr const char* kHeadHint = "a query names its result, labels in brackets: EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])";

TEST(SyntaxError, Expressions) {
  expect_all({
      {"EINSUM Z[i,k] = SUM(X[i,j * Y[j,k])", 1, 35, "expected ']' after the labels of X, found ')'",
       "the bracket after X is open here"},
      {"EINSUM Z[i] =\n  X[i j]", 2, 7, "expected ']' after the labels of X, found 'j'",
       "labels have commas between them"},
      {"EINSUM Z[i] = X[i)", 1, 18, "expected ']' after the labels of X, found ')'",
       "the bracket after X is open here"},
      {"EINSUM Z[i] = X[,i]", 1, 17, "expected a label or an index of X, found ','"},
      {"EINSUM Z[i] = X[1.5]", 1, 17, "expected a label or an index of X, found '1.5'"},
      {"EINSUM Z[i] = X[99999999999999999999]", 1, 17, "an index beyond 64 bits"},
      {"EINSUM Z = SUM(X i,j])", 1, 18, "expected ')' after the argument of SUM, found 'i'", kProductHint},
      {"EINSUM Z = SUM(X[i]", 1, 20, "expected ')' after the argument of SUM, found the end of the statement"},
      {"EINSUM Z = SUM[i(X[i])", 1, 23, "expected ']' after the labels of SUM, found the end of the statement",
       "the bracket after SUM is open here"},
      {"EINSUM Z = SUM[3](X[i])", 1, 16, "expected a label to aggregate over, found '3'"},
      {"EINSUM Z = SUM()", 1, 16, "expected an expression, found ')'"},
      {"EINSUM Z = MAX(a, b)", 1, 17, "expected ')', as MAX takes one argument, found ','",
       "of several values, take GREATEST(a, b); over a label, MAX[j](x)"},
      {"EINSUM Z = f(a b)", 1, 16, "expected ')' after the arguments of f, found 'b'", kProductHint},
      {"EINSUM Z = (a", 1, 14, "expected ')' to close the parenthesis, found the end of the statement"},
      {"EINSUM Z = a)", 1, 13, "expected an operator or the end of the statement, found ')'", "no '(' is open here"},
      {"EINSUM Z = a]", 1, 13, "expected an operator or the end of the statement, found ']'", "no '[' is open here"},
      {"EINSUM Z = (a)[i]", 1, 15, "expected an operator or the end of the statement, found '['",
       "only the name of a tensor takes labels: X[i,j]"},
      {"EINSUM Z = a +", 1, 15, "expected an expression, found the end of the statement"},
      {"EINSUM Z = a < b < c", 1, 18, "comparisons do not chain", "write a < b AND b < c"},
      {"EINSUM Z = a < b BETWEEN 1 AND 2", 1, 18, "comparisons do not chain", "write a < b AND b < c"},
      {"EINSUM Z = a BETWEEN 1", 1, 23, "expected AND and the upper bound of BETWEEN, found the end of the statement"},
      {"EINSUM Z = a IN b", 1, 17, "expected '(' and values after IN: x IN (1, 2), found 'b'"},
      {"EINSUM Z = 1 + NOT x", 1, 16, "expected an operand, found 'NOT'", "NOT binds loosely: put it in parentheses"},
      {"EINSUM Z = end[i]", 1, 12, "expected an expression, found 'end'",
       "a name that is a keyword stands in quotes: \"end\""},
      {"EINSUM Z = CASE a END", 1, 19, "expected WHEN after CASE, found 'END'"},
      {"EINSUM Z = CASE WHEN a THN b END", 1, 24, "expected THEN after the condition of WHEN, found 'THN'",
       "did you mean THEN?"},
      {"EINSUM Z = CASE WHEN a THEN b", 1, 30, "expected END to close CASE, found the end of the statement"},
      {"EINSUM Z = CAST(a)", 1, 18, "expected AS and a type in CAST, as in CAST(x AS FLOAT32), found ')'"},
      {"EINSUM Z = X[i] ORDER BY i", 1, 17, "expected an operator or the end of the statement, found 'ORDER'",
       "use SQL around the query: SELECT * FROM (EINSUM ...) ORDER BY val"},
  });
}

TEST(SyntaxError, Tokens) {
  expect_all({
      {"EINSUM Z = 1e999", 1, 12, "a number beyond the range of FLOAT64", "INFINITY is a constant"},
      {"EINSUM Z = 2x", 1, 13, "letters in the number 2x", "a name starts with a letter; quote a text: '2x'"},
      {"SET memory_limit = 2GB", 1, 21, "letters in the number 2GB",
       "a name starts with a letter; quote a text: '2GB'"},
      {"EINSUM Z = a && b", 1, 15, "expected an expression, found '&'", "write AND for &&"},
      {"EINSUM Größe = a × b", 1, 18, "unexpected character '×'", "write * for times"},
      {"EINSUM Z = X{i}", 1, 13, "unexpected character '{'", "labels stand in brackets: X[i,j]"},
      {"EINSUM Z = $0", 1, 12, "parameters are numbered from $1 to $65535"},
      {"EINSUM Z = $x", 1, 12, "a parameter is written $1, $2, ..."},
      {"EINSUM Z = $99999999999999999999", 1, 12, "parameters are numbered from $1 to $65535"},
      {"COPY X FROM 'a.npy", 1, 13, "unterminated string", "close it with '"},
      {"EINSUM \"Z = 1", 1, 8, "unterminated quoted name", "close it with \""},
      {"EINSUM \"\" = 1", 1, 8, "an empty name"},
      {"EINSUM Z = 1\n/* one", 2, 1, "unterminated comment", "close it with */"},
      {"SELECT 'a''b", 1, 8, "unterminated quote", "close it with '"},
      {"SELECT 1 /* c", 1, 10, "unterminated comment", "close it with */"},
      {"EINSUM Z = \xC3(", 1, 12, "invalid UTF-8", "save the text as UTF-8"},
      {"SELECT '\xED\xA0\x80'", 1, 9, "invalid UTF-8", "save the text as UTF-8"},
      {"SELECT '\xC0\xAF'", 1, 9, "invalid UTF-8", "save the text as UTF-8"},
      {"SELECT '\xF4\x90\x80\x80'", 1, 9, "invalid UTF-8", "save the text as UTF-8"},
      {"SELECT '\xE2\x82", 1, 9, "invalid UTF-8", "save the text as UTF-8"},
  });
  EXPECT_THROW(parse_statement(std::string_view("SELECT 1\0", 9)), Error);
}

TEST(SyntaxError, FirstWords) {
  expect_all({
      {"EINSM Z[i] = 1", 1, 1, "expected a statement, found 'EINSM'", "did you mean EINSUM?"},
      {"SELCT 1", 1, 1, "expected a statement, found 'SELCT'", "did you mean SELECT?"},
      {"-- c\nZ[i] = 1", 2, 1, "expected a statement, found 'Z'", kQueryHint},
      {"frobnicate x", 1, 1, "expected a statement, found 'frobnicate'", kQueryHint},
      {"'abc' EINSUM", 1, 1, "expected a statement, found the string 'abc'", kQueryHint},
      {"(SELECT 1)", 1, 1, "expected a statement, found '('", kQueryHint},
      {"CREATE TENOSR Z (i 3)", 1, 8, "expected the kind of object after CREATE, found 'TENOSR'",
       "did you mean TENSOR?"},
      {"DROP", 1, 5, "expected the kind of object after DROP, found the end of the statement",
       "one of TENSOR, MACRO, FUNCTION, AGGREGATE, USER, TABLE, INDEX, VIEW, TRIGGER"},
      {"ALTER TENSER X RENAME TO Y", 1, 7, "expected the kind of object after ALTER, found 'TENSER'",
       "did you mean TENSOR?"},
      {"SELECT 1; SELECT 2", 1, 11, "one statement at a time: another follows the semicolon"},
      {"EINSUM Z = 1; SELECT 2", 1, 15, "one statement at a time: another follows the semicolon"},
  });
}

TEST(SyntaxError, Tensors) {
  expect_all({
      {"CREATE TENSOR (i 3)", 1, 18, "expected ',' or ')' after the name of a tensor, found '3'",
       "the name of the tensor stands before its dimensions: CREATE TENSOR X (i 1000)"},
      {"CREATE TENSOR X", 1, 16, "expected the dimensions or AS after X, found the end of the statement",
       "as in (i 1000, j 2000); a scalar has ()"},
      {"CREATE TENSOR X (i)", 1, 19, "expected the extent of the label i, a whole number from 0 on, found ')'",
       kDimensionHint},
      {"CREATE TENSOR X (i -3)", 1, 20, "expected the extent of the label i, a whole number from 0 on, found '-'",
       kDimensionHint},
      {"CREATE TENSOR X (i 99999999999999999999)", 1, 20, "the extent of the label i is beyond 64 bits"},
      {"CREATE TENSOR X (i 3 j 4)", 1, 22, "expected ')' after the dimensions of X, found 'j'"},
      {"CREATE TENSOR X (i 10) PARTITON (3)", 1, 24, "expected a type, PARTITION or AS, found 'PARTITON'",
       "did you mean PARTITION?"},
      {"CREATE TENSOR X (i 10) FLOAT32 PARTITON (3)", 1, 32,
       "expected AS or the end of the statement, found 'PARTITON'", "did you mean PARTITION?"},
      {"CREATE TENSOR X (i 10) REPLICAS 0", 1, 33, "expected a number of copies, a whole number from 1 on, found '0'",
       ""},
      {"CREATE TENSOR X (i 10) REPLICAS 2 REPLICAS 2", 1, 35,
       "expected AS or the end of the statement, found 'REPLICAS'", ""},
      {"CREATE TENSOR X (i 10) PARTITION (0)", 1, 35,
       "expected a number of parts, a whole number from 1 on, found '0'"},
      {"CREATE TENSOR X AS SELECT 1", 1, 15, "a tensor from rows needs its dimensions",
       "CREATE TENSOR X (i 1000, j 50) AS SELECT row, col, weight FROM t"},
      {"CREATE TENSOR X (i 3) AS EINSUM Z[i] = 1", 1, 17, "a query brings its own dimensions",
       "CREATE TENSOR X AS EINSUM ..."},
      {"CREATE TENSOR X AS EINSM Z = 1", 1, 20, "expected a query: EINSUM, WITH or SELECT, found 'EINSM'",
       "did you mean EINSUM?"},
      {"CREATE TENSOR IF NOT EXIST X (i 3)", 1, 22, "expected EXISTS after IF NOT, found 'EXIST'",
       "did you mean EXISTS?"},
      {"ALTER TENSOR X RENAM TO Y", 1, 16,
       "expected RENAME, PARTITION, REPLICAS, EXTEND or TYPE after X, found 'RENAM'", "did you mean RENAME?"},
      {"DROP TENSOR X Y", 1, 15, "expected the end of the statement, found 'Y'"},
      {"COPY X FORM 'a'", 1, 8, "expected FROM or TO after X, found 'FORM'", "did you mean FROM?"},
      {"COPY X FROM a", 1, 13, "expected the path of a file, found 'a'", "a path stands in plain quotes: 'x.npy'"},
      {"COPY (EINSUM Z = 1) FROM 'a'", 1, 21, "expected TO and a path after the query, found 'FROM'"},
      {"COPY X TO 'a' (FORMAT npy", 1, 26, "expected ')' after the options, found the end of the statement"},
      {"INSERT INTO TENSOR X (1, 2)", 1, 22, "expected VALUES or SELECT after X, found '('",
       "rows are (key..., value), in the order of the dimensions"},
      {"INSERT INTO TENSOR X VALUES 1", 1, 29, "expected '(' and the values of a row, found '1'",
       "as in VALUES (0, 3, 1.5), (2, 0, -2)"},
  });
}

TEST(SyntaxError, Queries) {
  expect_all({
      {"EINSUM X[i,j] * Y[j,k]", 1, 15, "expected '=' after X[i,j], found '*'", kHeadHint},
      {"EINSUM SUM(X[i])", 1, 11, "expected '[' or '=' after SUM, found '('", kHeadHint},
      {"EINSUM Z[3] = 1", 1, 10, "expected a label, found '3'",
       "a head has labels alone; for one index, CASE WHEN i = 3 THEN ... ELSE ... END"},
      {"EINSUM Z[i,k = X[i,k]", 1, 14, "expected ']' after the labels of Z, found '='",
       "labels have commas between them; an extent is a whole number after its label: i 10"},
      {"WITH A[i] = X[i], EINSUM Z[i] = A[i]", 1, 19, "expected a definition after the comma, found 'EINSUM'",
       "remove the comma before EINSUM"},
      {"WITH A[i] = X[i] EINSM Z[i] = A[i]", 1, 18, "expected ',' or EINSUM after a definition, found 'EINSM'",
       "did you mean EINSUM?"},
      {"EINSUM 'i,j'", 1, 13, "expected '(' and the operands after the subscripts, found the end of the statement",
       "as in EINSUM 'ij,jk->ik' (X, Y)"},
      {"EINSUM 'i,j' (X, Y[j])", 1, 20, "expected ',' or ')' after the operand Y, found 'j'",
       "the subscripts give its labels"},
      {"EINSUM 'i,j' (X, )", 1, 18, "expected the name of a tensor, found ')'"},
      {"EINSUM 'i' (X) USNG PATH 'greedy'", 1, 16, "expected an operator or the end of the statement, found 'USNG'",
       "did you mean USING?"},
      {"EINSUM 'i' (X) USING PATH greedy", 1, 27,
       "expected a list of steps or the name of an algorithm after PATH, found 'greedy'",
       "as in USING PATH ((0,1),(0,1)) or USING PATH 'greedy'"},
      {"EINSUM 'i' (X) USING PATH 'auto' WITH WEIGHT -1", 1, 46,
       "expected the price of an element in flops after WEIGHT, found '-'", "as in USING PATH 'auto' WITH WEIGHT 100"},
      {"EINSUM 'i' (X) USING PATH 'auto' WITH WAIT 1", 1, 39, "expected WEIGHT after the path and WITH, found 'WAIT'"},
      {"EINSUM 'i' (X) USING PATH (0,1)", 1, 28, "expected '(' and the positions that a step contracts, found '0'",
       "a path is a list of steps: ((0,1),(0,1))"},
      {"EINSUM 'i' (X) USING PATH ((0,-1))", 1, 31, "expected the position of an operand, from 0, found '-'"},
      {"SELECT * FROM\n (EINSUM Z[i] = X[i) x", 2, 20, "expected ']' after the labels of X, found ')'",
       "the bracket after X is open here"},
      {"EXPLAIN (ANALYSE) EINSUM Z = 1", 1, 10, "expected ANALYZE, COMPARE or FORMAT, found 'ANALYSE'",
       "did you mean ANALYZE?"},
      {"EXPLAIN (FORMAT xml) EINSUM Z = 1", 1, 17, "expected text, json, dot or html after FORMAT, found 'xml'"},
      {"EXPLAIN ANALYZE SELECT 1", 1, 17, "expected a query after EXPLAIN: EINSUM or WITH, found 'SELECT'",
       "EXPLAIN QUERY PLAN is for SQL"},
      {"EXPLAIN CREATE TENSOR X (i 3)", 1, 9, "expected a query after EXPLAIN: EINSUM or WITH, found 'CREATE'",
       "EXPLAIN takes the query alone: EXPLAIN EINSUM ..."},
  });
}

TEST(SyntaxError, Session) {
  expect_all({
      {"SET threads 4", 1, 13, "expected '=' after threads, found '4'",
       "as in SET threads = value; SHOW ALL lists settings"},
      {"SET threads =", 1, 14, "expected the value of threads, found the end of the statement"},
      {"DRAIN WORKER x", 1, 14, "expected the address of a worker after WORKER, found 'x'",
       "as SHOW WORKERS has it, in quotes"},
      {"ALTER WORKER x DRAIN", 1, 14, "expected the address of a worker after WORKER, found 'x'",
       "as SHOW WORKERS has it, in quotes"},
      {"ALTER WORKER 'x'", 1, 17,
       "expected DRAIN or ACTIVATE after the address of the worker, found the end of the statement",
       "DRAIN moves its tiles to the other workers, ACTIVATE takes that back"},
      {"DRAIN 'x'", 1, 7, "expected WORKER after DRAIN, found the string 'x'"},
      {"SHOW", 1, 5,
       "expected TENSORS, MACROS, AGGREGATES, USERS, WORKERS, ALL or the name of a setting, found the end of the "
       "statement"},
      {"BEGIN TRANSACTON", 1, 7, "expected the end of the statement, found 'TRANSACTON'"},
      {"BEGIN READ", 1, 11, "expected ONLY or WRITE after READ, found the end of the statement"},
      {"BEGIN READ ONLY,", 1, 17,
       "expected READ ONLY, READ WRITE, ISOLATION LEVEL or DEFERRABLE, found the end of the statement"},
      {"BEGIN IMMEDIATE READ ONLY", 1, 26,
       "expected a transaction that is READ ONLY to be DEFERRED, found the end of the statement",
       "it takes no lock: BEGIN READ ONLY"},
      {"SET TRANSACTION ISOLATION LEVEL SNAPSHOT", 1, 33,
       "expected SERIALIZABLE, REPEATABLE READ, READ COMMITTED or READ UNCOMMITTED, found 'SNAPSHOT'"},
      {"SAVEPOINT", 1, 10, "expected a name for the savepoint, found the end of the statement"},
      {"PREPARE p AS", 1, 13, "expected a statement to prepare, found the end of the statement"},
      {"PREPARE p AS PREPARE q AS SELECT 1", 1, 14, "expected a statement to prepare, found 'PREPARE'"},
      {"PREPARE p AS EINSUM Z = ", 1, 25, "expected an expression, found the end of the statement"},
      {"EXECUTE p(1", 1, 12, "expected ')' after the arguments of p, found the end of the statement"},
      {"CREATE MACRO f AS x", 1, 16, "expected '(' and the parameters after f, found 'AS'"},
      {"CREATE MACRO f(x) x", 1, 19, "expected AS and an expression after the parameters, found 'x'"},
  });
}

TEST(SyntaxError, Derivatives) {
  constexpr const char* kGradientHint = "as in GRADIENT OF L[] = SUM(X[i]^2) WITH RESPECT TO (X AS dX)";
  constexpr const char* kJvpHint = "as in JVP OF Y[i] = EXP(X[i]) WITH RESPECT TO (X ALONG V) AS dY";
  expect_all({
      {"GRADIENT L WITH RESPECT TO (W)", 1, 10, "expected OF after GRADIENT, found 'L'"},
      {"GRADIENT OF (L)", 1, 13, "expected what to derive after GRADIENT OF, found '('", kGradientHint},
      {"GRADIENT OF L[i] WITH RESPECT TO (W)", 1, 18, "expected '=' after L[i], found 'WITH'", kHeadHint},
      {"GRADIENT OF L", 1, 14, "expected WITH RESPECT TO and the variables, found the end of the statement",
       kGradientHint},
      {"GRADIENT OF L = SUM(W[i]) WIHT RESPECT TO (W)", 1, 27,
       "expected WITH RESPECT TO and the variables, found 'WIHT'", "did you mean WITH?"},
      {"GRADIENT OF L = SUM(W[i]) W", 1, 27, "expected WITH RESPECT TO and the variables, found 'W'", kProductHint},
      {"GRADIENT OF L WITH REPSECT TO (W)", 1, 20, "expected RESPECT TO after WITH, found 'REPSECT'",
       "did you mean RESPECT?"},
      {"GRADIENT OF L WITH RESPECT TO W", 1, 31, "expected '(' and the variables after TO, found 'W'", kGradientHint},
      {"GRADIENT OF L WITH RESPECT TO ()", 1, 32,
       "expected the name of a variable, a tensor or a definition, found ')'"},
      {"GRADIENT OF L WITH RESPECT TO (W[i])", 1, 33, "expected AS, ',' or ')' after the variable W, found '['",
       "the derivative has all of its labels: a variable is a name alone"},
      {"GRADIENT OF L WITH RESPECT TO (W dW)", 1, 34, "expected ')' after the variables of GRADIENT, found 'dW'"},
      {"GRADIENT OF L WITH RESPECT TO (W AS dW", 1, 39,
       "expected ')' after the variables of GRADIENT, found the end of the statement"},
      {"JVP OF Y[i] = X[i] WITH RESPECT TO (X)", 1, 38,
       "expected ALONG and a direction after the variable X, found ')'", kJvpHint},
      {"JVP OF Y WITH RESPECT TO (X ALNOG V)", 1, 29,
       "expected ALONG and a direction after the variable X, found 'ALNOG'", "did you mean ALONG?"},
      {"JVP OF Y WITH RESPECT TO (X ALONG V) AS 3", 1, 41, "expected a name for the derivative after AS, found '3'"},
      {"WITH GRADIENT OF L WITH RESPECT TO (W)", 1, 39,
       "expected ',' or EINSUM after a definition, found the end of the statement",
       "a derivative that is the query itself has no comma, or no WITH, before it"},
      {"GRAD OF L", 1, 1, "expected a statement, found 'GRAD'", "write GRADIENT OF L WITH RESPECT TO (W)"},
  });
}

TEST(SyntaxError, SeveralResults) {
  constexpr const char* kSubscriptHint = "subscripts stand in plain quotes: EINSUM 'ij,jk->ik' (X, Y)";
  expect_all({
      {"EINSUM ()", 1, 9, "expected the name of a result, found ')'"},
      {"EINSUM (Q, R", 1, 13, "expected ',' or ')' after the results, found the end of the statement", kSubscriptHint},
      {"EINSUM (Q[i])", 1, 10, "expected ',' or ')' after the results, found '['",
       "results are names alone, of definitions in WITH"},
      {"EINSUM (Q, q)", 1, 12, "the result q is given twice", "names are compared without regard to case"},
      {"EINSUM ('ij', X)", 1, 9, "expected the name of a result, found the string 'ij'", "write EINSUM 'ij' (X)"},
      {"CREATE TENSOR Z AS EINSUM (Q, R)", 1, 20, "the query has the results Q, R, and one is wanted here",
       "CREATE TENSOR (Q, R) AS stores them all; WITH ... EINSUM (Q) takes one"},
      {"COPY (GRADIENT OF L WITH RESPECT TO (W, V AS g)) TO 'x.npy'", 1, 7,
       "the query has the results dW, g, and one is wanted here",
       "CREATE TENSOR (dW, g) AS stores them all; WITH ... EINSUM (dW) takes one"},
      {"SELECT * FROM (WITH Q[i] = X[i] EINSUM (Q, X, Y, A, B, C))", 1, 16,
       "the query has the results Q, X, Y, A, B, ..., and one is wanted here",
       "CREATE TENSOR (Q, X) AS stores them all; WITH ... EINSUM (Q) takes one"},
      {"SELECT * FROM (WITH Q[i] = X[i] UPDATE TENSOR Q[i] = 0)", 1, 33,
       "expected ',' or EINSUM after a definition, found 'UPDATE'",
       "UPDATE TENSOR is a statement of its own, and no part of another"},
      {"CREATE TENSOR (a, b)", 1, 21, "expected AS and a query after the names, found the end of the statement",
       "as in CREATE TENSOR (dW, dV) AS GRADIENT OF ..."},
      {"CREATE TENSOR (i 10, j 20)", 1, 18, "expected ',' or ')' after the name of a tensor, found '10'",
       "the name of the tensor stands before its dimensions: CREATE TENSOR X (i 1000)"},
      {"CREATE TENSOR (a, A) AS EINSUM (a)", 1, 19, "the tensor A is given twice",
       "names are compared without regard to case"},
      {"CREATE TENSOR (a) FLOAT32 AS EINSUM (a)", 1, 19, "expected AS and a query after the names, found 'FLOAT32'",
       "of several tensors each has the type of its result; ALTER TENSOR gives a partition"},
      {"CREATE TENSOR (a) AS SELECT 1", 1, 22, "expected a query of EINSUM, GRADIENT or JVP, found 'SELECT'",
       "rows of SQL make one tensor: CREATE TENSOR X (...) AS"},
      {"CREATE OR REPLACE TENSOR IF NOT EXISTS X (i 3)", 1, 26, "expected the name of the tensor, found 'IF'",
       "OR REPLACE replaces what exists: leave out IF NOT EXISTS, or it"},
      {"CREATE OR REPLACE TENSER X (i 3)", 1, 19,
       "expected TENSOR, MACRO, FUNCTION, AGGREGATE or VIEW after REPLACE, found 'TENSER'", "did you mean TENSOR?"},
      {"CREATE OR TENSOR X (i 3)", 1, 11, "expected REPLACE after OR, found 'TENSOR'"},
  });
}

TEST(SyntaxError, Updates) {
  expect_all({
      {"UPDATE TENSOR", 1, 14, "expected the name of the tensor, found the end of the statement",
       "as in UPDATE TENSOR W[i,j] = W[i,j] - 0.1 * dW[i,j]"},
      {"UPDATE TENSOR W", 1, 16, "expected '[' or '=' after W, found the end of the statement", kHeadHint},
      {"UPDATE TENSOR W[3.5,h] = 0", 1, 17, "expected a label or an index of W, found '3.5'"},
      {"UPDATE TENSOR W[3,h", 1, 20, "expected ']' after the labels of W, found the end of the statement",
       "the bracket after W is open here"},
      {"UPDATE TENSOR W[3,h] *", 1, 22, "expected '=' after W[3,h], found '*'",
       "a query names its result, labels in brackets: EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])"},
      {"UPDATE TENSOR W[3,h] ^= 2", 1, 22, "expected '=' after W[3,h], found '^'",
       "a query names its result, labels in brackets: EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])"},
      {"UPDATE TENSOR W[h+1 PAD 0] = 2", 1, 25, "what lies outside of W gets no value",
       "PAD is for references that are read"},
      {"UPDATE TENSOR W[h+1] *= 2", 1, 22, "cells at computed indices take =, += and -="},
      {"UPDATE TENSOR W[i] = 0, w[i] = 1", 1, 25, "the tensor w is given twice",
       "names are compared without regard to case"},
      {"UPDATE TENSOR W[i] = 0 WHERE i = 3", 1, 24, "expected an operator or the end of the statement, found 'WHERE'",
       "use SQL around the query: SELECT * FROM (EINSUM ...) ORDER BY val"},
      {"WITH d[i] = W[i] UPDATE W SET x = 1", 1, 25, "expected TENSOR after UPDATE, found 'W'"},
      {"WITH d[i] = W[i], UPDATE TENSOR W[i] = d[i]", 1, 19, "expected a definition after the comma, found 'UPDATE'",
       "remove the comma before UPDATE"},
  });
}

TEST(SyntaxError, Loops) {
  constexpr const char* kLoopHint = "as in REPEAT 10 AS t UNTIL loss < 0.1 { ...; ...; }";
  constexpr const char* kTransactionHint =
      "each round is one; COMMIT EVERY 10, before the brace, takes ten rounds together";
  expect_all({
      {"REPEAT", 1, 7, "expected the number of rounds after REPEAT, a whole number, found the end of the statement",
       "as in REPEAT 10 { ...; ...; }"},
      {"REPEAT { a; }", 1, 8, "expected the number of rounds after REPEAT, a whole number, found '{'",
       "as in REPEAT 10 { ...; ...; }"},
      {"REPEAT -1 { SELECT 1 }", 1, 8, "expected the number of rounds after REPEAT, a whole number, found '-'",
       "as in REPEAT 10 { ...; ...; }"},
      {"REPEAT 10 SELECT 1", 1, 11, "expected '{' and the statements to repeat, found 'SELECT'", kLoopHint},
      {"REPEAT 10;", 1, 10, "expected '{' and the statements to repeat, found the end of the statement", kLoopHint},
      {"REPEAT 10 UNTLI x < 1 { SELECT 1 }", 1, 11, "expected '{' and the statements to repeat, found 'UNTLI'",
       "did you mean UNTIL?"},
      {"REPEAT 10 AS t AS u { SELECT 1 }", 1, 16, "expected '{' and the statements to repeat, found 'AS'", kLoopHint},
      {"REPEAT 10 AS \"t\" { SELECT 1 }", 1, 14, "the variable of a loop is a plain name", "leave out the quotes"},
      {"REPEAT 10 COMMIT 5 { SELECT 1 }", 1, 18, "expected EVERY after COMMIT, found '5'"},
      {"REPEAT 10 COMMIT EVERY 0 { SELECT 1 }", 1, 24,
       "expected the rounds in a transaction, a whole number from 1 on, found '0'"},
      {"REPEAT 10 { ; }", 1, 11, "a loop without statements", "REPEAT 10 { ...; ...; }"},
      {"REPEAT 10 {\n SELECT 1;", 1, 11, "the brace of a loop is not closed",
       "close it with } after the last statement of the loop"},
      {"REPEAT 1 { REPEAT 2 {\n SELECT 1; }", 1, 10, "the brace of a loop is not closed",
       "close it with } after the last statement of the loop"},
      {"REPEAT 1 { SELECT 1; } }", 1, 24, "unexpected character '}'",
       "labels stand in brackets: X[i,j]; no '{' of a loop is open here"},
      {"}", 1, 1, "expected a statement, found '}'", "no '{' of a loop is open here"},
      {"REPEAT 1 { SELECT 1; } SELECT 2", 1, 24, "expected the end of the statement, found 'SELECT'"},
      {"REPEAT 2 {\n  EINSUM Z[i] = X[i;\n}", 2, 20,
       "expected ']' after the labels of X, found the end of the statement", "the bracket after X is open here"},
      {"REPEAT 2 { EINSUM Z{i} = X{i}; SELECT 1 }", 1, 20, "unexpected character '{'",
       "labels stand in brackets: X[i,j]"},
      {"REPEAT 2 { SELECT 1; EINSUM Z = }", 1, 33, "expected an expression, found the end of the statement"},
      {"REPEAT 2 { SELECT 1; SELCT 1 }", 1, 22, "expected a statement, found 'SELCT'", "did you mean SELECT?"},
      {"REPEAT 2 { SHOW TENSORS x; }", 1, 25, "expected the end of the statement, found 'x'"},
      {"REPEAT 2 { COPY X FROM 'x' FORMAT csv }", 1, 28, "expected the end of the statement, found 'FORMAT'",
       "options stand in parentheses: (FORMAT csv, HEADER on)"},
      {"REPEAT 2 { BEGIN; SELECT 1; COMMIT; }", 1, 12, "BEGIN inside of a loop, which has transactions of its own",
       kTransactionHint},
      {"REPEAT 2 { SELECT 1; end; }", 1, 22, "END inside of a loop, which has transactions of its own",
       kTransactionHint},
      {"REPEAT 2 { REPEAT 3 { ROLLBACK } }", 1, 23, "ROLLBACK inside of a loop, which has transactions of its own",
       kTransactionHint},
      {"REPEAT 2 { PREPARE p AS SELECT 1; }", 1, 12,
       "PREPARE inside of a loop: the second round would find its name taken",
       "prepare it before the loop; EXECUTE may stand inside"},
      {"REPEAT 2 { CREATE USER ann PASSWORD 'x' }", 1, 12,
       "a statement with a password inside of a loop: the text of a loop is kept", "run it by itself"},
      {"REPEAT 2 AS t { REPEAT 3 AS t { SELECT 1 } }", 1, 29, "a loop around this one has the variable t",
       "call it something else"},
      {"REPEAT 2 AS t { EINSUM Z[t] = X[t] }", 1, 26, "t is the variable of a loop, and cannot be a label here",
       "use another label, or quote it; where only index t changes, UPDATE TENSOR X[t,j] = ..."},
      {"REPEAT 2 AS t { EINSUM z = SUM[t](X[t]) }", 1, 32, "t is the variable of a loop, and cannot be a label here",
       "use another label, or quote it; where only index t changes, UPDATE TENSOR X[t,j] = ..."},
      {"FOR i", 1, 1, "expected a statement, found 'FOR'", "a loop is REPEAT 10 AS t { ...; ...; }"},
  });
}

TEST(SyntaxError, LoopsNestAsDeepAsExpressions) {
  const auto nested = [](std::size_t depth) {
    std::string text;
    for (std::size_t n = 0; n < depth; ++n) text += "REPEAT 1 {";
    return text + "SELECT 1" + std::string(depth, '}');
  };
  EXPECT_NO_THROW(parse_statement(nested(kMaxNesting)));
  for (const std::size_t depth : {kMaxNesting + 1, std::size_t{100'000}}) {
    try {
      parse_statement(nested(depth));
      ADD_FAILURE() << depth;
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "loops nest more than 500 deep");
    }
  }
}

TEST(SyntaxError, Users) {
  expect_all({
      {"CREATE USER", 1, 12, "expected the name of the user, found the end of the statement"},
      {"CREATE ROLE ann", 1, 8, "expected the kind of object after CREATE, found 'ROLE'",
       "who may log in is a USER, and its role is READ ONLY or READ WRITE"},
      {"CREATE USER ann", 1, 16, "expected PASSWORD '...' after the name of the user"},
      {"CREATE USER ann READ ONLY", 1, 26, "expected PASSWORD '...' after the name of the user"},
      {"ALTER USER ann", 1, 15,
       "expected PASSWORD '...', READ ONLY, READ WRITE, RESTRICTED or ADMIN after the name of the user"},
      {"ALTER USER ann READ", 1, 20, "expected ONLY or WRITE after READ"},
      {"CREATE USER ann PASSWORD 'x' READ WRIET", 1, 35, "expected ONLY or WRITE after READ", "did you mean WRITE?"},
      {"CREATE USER ann PASSWORD 'x' READ ONLY READ WRITE", 1, 40, "expected the end of the statement"},
      {"DROP USER IF ann", 1, 14, "expected EXISTS after IF, found 'ann'"},
  });
}

// Holds for any mistake in the statement.
TEST(SyntaxError, PasswordsAreNotShown) {
  for (const char* text : {"CREATE USER ann 'secret'",
                           "CREATE USER ann secret",
                           "CREATE USER ann PASSWORD secret",
                           "CREATE USER ann PASSWORD \"secret\"",
                           "CREATE USER ann PASSWORD 12secret",
                           "CREATE USER ann PASSWORD = 'secret'",
                           "CREATE USER ann PASSWORD 'secret",
                           "CREATE USER ann PASSWORD 'x'secret",
                           "CREATE USER ann PASSWORD 'x' 'secret'",
                           "CREATE USER ann PASSWORD 'x'12secret",
                           "CREATE USER ann PASSWORD 'x' READ secret",
                           "CREATE USER ann PASSWORD 'x' READ ONLY secret",
                           "CREATE USER ann PASSWORD 'x' READ ONLY 12secret",
                           "CREATE USER ann IDENTIFIED BY 'secret'",
                           "ALTER USER ann SET PASSWORD 'secret'",
                           "ALTER USER ann PASSWORD \xE2\x80\x98secret\xE2\x80\x99",
                           "ALTER USER ann PASSWORD 'x' PASSWORD 'secret'",
                           "CREATE USER ann PASSWORD 'x'; secret",
                           "PREPARE p AS CREATE USER ann PASSWORD secret",
                           "PREPARE p AS ALTER USER ann PASSWORD 'secret'",
                           "CREATE USER ann WITH LOGIN PASSWORD 'secret'"}) {
    try {
      parse_statement(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ((error.message() + error.hint()).find("secret"), std::string::npos) << text << ": " << error.message();
      EXPECT_TRUE(error.span().has_value()) << text;
    }
  }
}

TEST(SyntaxError, TooLongStatements) { EXPECT_THROW(parse_statement(std::string(kMaxStatementBytes + 1, ' ')), Error); }

const std::vector<std::string> kValid = {
    "EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k]) USING PATH ((0,1),(0,1));",
    "WITH C[i] = MAX[j](X[i,j]), E[i,j 4] = EXP(X[i,3] - C[i])^-2 EINSUM Y[i] = SUM(E[i,j]) / 1e-3 % .5",
    "EINSUM Z[t,s] = CASE WHEN t <= s AND NOT s = $1 THEN CAST(X[s,t] AS FLOAT32) ELSE -INFINITY END",
    "CREATE TENSOR IF NOT EXISTS \"X\" (i 1000, j 2000) FLOAT64 PARTITION (4, 8) AS SELECT a || b FROM t;",
    "SELECT i FROM (EINSUM 'i,->i' (X, \"y\")) WHERE a = 'b''c' -- end\n;",
    "EINSUM '(ij,jk),...kl->...il' (X, Y, Z) USING PATH 'greedy'",
    "EINSUM '[a1,b],[b,c2]->[a1,c2]' (X, größe)",
    "CREATE OR REPLACE MACRO softmax(x, l) AS EXP(x) / SUM[l](EXP(x))",
    "COPY (EINSUM Z[] = 1) TO 'z.npy' WITH (FORMAT npy, HEADER, skip = -3)",
    "INSERT INTO TENSOR X VALUES (0, 3, 1.5), (1, 2, -.5e3)",
    "EXPLAIN (ANALYZE, FORMAT json) EINSUM s = PROD[](a) /* c */",
    "PREPARE p AS CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END;",
    "SET memory_limit = '2GB'",
    "EXECUTE p(1, 'x')",
    "CREATE USER ann WITH PASSWORD 'it''s' READ ONLY",
    "WITH P[b] = SUM(X[b,i] * W[i]), GRADIENT OF L[] = SUM(P[b]^2) WITH RESPECT TO (W AS dW, X) EINSUM (dW, dX, L)",
    "JVP OF Y[i] = EXP(X[i]) WITH RESPECT TO (X ALONG V, W ALONG \"U\") AS dY USING PATH 'left'",
    "CREATE OR REPLACE TENSOR (dW, L) REPLICAS 2 AS (GRADIENT OF L WITH RESPECT TO (W))",
    "WITH d[i] = W[i] UPDATE TENSOR W[i] = W[i] - $1 * d[i], s = s + 1;",
    "REPEAT 10 AS t UNTIL loss < 1e-3 COMMIT EVERY $1 { UPDATE TENSOR W[i] = X[t,i]; REPEAT t { SELECT ':t;}' } };",
    "REPEAT 2 { CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END; COPY X TO 'x.${t}.npy' -- }\n }",
};

/// A byte that is significant in these languages, or any byte.
char random_byte(std::mt19937& random) {
  constexpr std::string_view kMeaningful = "()[]{},;='\"`$*/+-^%<>.e0 \n\xC3\x9F";
  if (random() % 4 == 0) return static_cast<char>(random() % 256);
  return kMeaningful[random() % kMeaningful.size()];
}

void mutate(std::string& text, std::mt19937& random) {
  const auto at = random() % (text.size() + 1);
  const auto length = random() % 8;
  const auto& other = kValid[random() % kValid.size()];
  switch (random() % 4) {
    case 0: text.insert(at, 1, random_byte(random)); break;
    case 1: text.erase(at, length); break;
    case 2: text.insert(at, other, random() % other.size(), length); break;
    default:
      if (at < text.size()) text[at] = random_byte(random);
  }
}

void expect_located(const std::string& text) {
  try {
    parse_statement(text);
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::Syntax) << text;
    ASSERT_TRUE(error.span().has_value()) << text;
    ASSERT_LE(error.span()->begin, error.span()->end) << text;
    ASSERT_LE(error.span()->end, text.size()) << text;
  }
}

TEST(SyntaxError, MutatedStatementsGiveLocatedErrors) {
  std::mt19937 random(20240229);
  for (int round = 0; round < 40'000; ++round) {
    auto text = kValid[random() % kValid.size()];
    for (auto mutations = 1 + random() % 6; mutations > 0; --mutations) mutate(text, random);
    expect_located(text);
    for (const auto& statement : split_statements(text))
      ASSERT_EQ(text.substr(statement.offset, statement.text.size()), statement.text);
  }
}

TEST(SyntaxError, TruncatedStatementsGiveLocatedErrors) {
  for (const auto& text : kValid) {
    EXPECT_NO_THROW(parse_statement(text)) << text;
    for (std::size_t length = 0; length < text.size(); ++length) expect_located(text.substr(0, length));
  }
}

}  // namespace
}  // namespace eindb
