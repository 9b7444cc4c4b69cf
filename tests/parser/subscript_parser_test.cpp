// Parsing subscript strings: letters, ellipsis, list form, nesting, and the positions of mistakes.

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "common/error.hpp"
#include "parser/parser.hpp"
#include "tests/parser/ast_dump.hpp"

namespace eindb {
namespace {

std::string parsed_subscript(const std::string& subscripts) {
  return ast::dump(parse_query("EINSUM '" + subscripts + "' (X)"));
}

struct SubscriptExample {
  const char* text;
  const char* tree;
};

TEST(SubscriptParser, Forms) {
  constexpr SubscriptExample kExamples[] = {
      {"ij,jk->ik", "[i,j] [j,k] -> [i,k] of X"},
      {"ij,jk", "[i,j] [j,k] of X"},
      {" i j , j k -> i k ", "[i,j] [j,k] -> [i,k] of X"},
      {"ii->", "[i,i] -> [] of X"},
      {"i->ii", "[i] -> [i,i] of X"},
      {"", "[] of X"},
      {",i->i", "[] [i] -> [i] of X"},
      {"i,->i", "[i] [] -> [i] of X"},
      {"...ij,jk...->...ik", "[...,i,j] [j,k,...] -> [...,i,k] of X"},
      {"жß,ß中->中ж", "[ж,ß] [ß,中] -> [中,ж] of X"},
      {"a×,×b", "[a,×] [×,b] of X"},  // opt_einsum's label number 75
      {"[a1,b],[b,c2]->[a1,c2]", "[a1,b] [b,c2] -> [a1,c2] of X"},
      {"[ a1 , ... ],[]->[...]", "[a1,...] [] -> [...] of X"},
      {"[0,1],[1,23]", "[0,1] [1,23] of X"},
      {"(ij,jk),kl->il", "[i,j] [j,k] [k,l] -> [i,l] of X nested ((0 1) 2)"},
      {"a,((b,c),d),(e)", "[a] [b] [c] [d] [e] of X nested (0 ((1 2) 3) (4))"},
      {"([a],[b]),[c]", "[a] [b] [c] of X nested ((0 1) 2)"},
  };
  for (const auto& example : kExamples)
    EXPECT_EQ(parsed_subscript(example.text), "(query (subscripts " + std::string(example.tree) + "))") << example.text;
}

TEST(SubscriptParser, Operands) {
  EXPECT_EQ(ast::dump(parse_query("EINSUM 'i,,' (X, \"a b\", s[])")), "(query (subscripts [i] [] [] of X \"a b\" s))");
}

TEST(SubscriptParser, SpansAreOfTheStatement) {
  const std::string text = "EINSUM 'ij, [b' (X)";
  try {
    parse_query(text);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "expected '[' and the labels of an operand, found 'i'");
    EXPECT_EQ(error.span(), (SourceSpan{8, 9}));
  }
  const auto query = parse_query("EINSUM 'ij, jß' (X, Y)");
  const auto& subscripts = std::get<ast::Subscripts>(query.body);
  EXPECT_EQ(subscripts.inputs[1].span, (SourceSpan{12, 15}));
  EXPECT_EQ(subscripts.inputs[1].items[1].span, (SourceSpan{13, 15}));
  EXPECT_EQ(subscripts.text_span, (SourceSpan{7, 16}));
}

TEST(SubscriptParser, Mistakes) {
  constexpr struct {
    const char* text;
    std::size_t offset;  // in the string
    const char* message;
  } kMistakes[] = {
      {"ij,jk->ik->i", 9, "a second '->' in the subscripts"},
      {"ij->i,j", 5, "the output is one term, without commas"},
      {"ij->(ij)", 4, "the output is one term, without parentheses"},
      {"i1,j", 1, "expected ',', '->' or the end of the subscripts, found '1'"},
      {"ij,j*", 4, "expected ',', '->' or the end of the subscripts, found '*'"},
      {"ij>i", 2, "expected ',', '->' or the end of the subscripts, found '>'"},
      {"(ij,jk", 6, "expected ',' or ')' in the subscripts, found the end of the subscripts"},
      {"(ij->i)", 3, "expected ',' or ')' in the subscripts, found '-'"},
      {"ij)", 2, "a ')' without its '(' in the subscripts"},
      {"(ij)jk", 4, "expected ',', '->' or the end of the subscripts, found 'j'"},
      {"i..j", 1, "expected an ellipsis '...', found '.'"},
      {"...i...", 4, "a second ellipsis in one term"},
      {"[a],", 4, "expected '[' and the labels of an operand, found the end of the subscripts"},
      {"[a,]", 3, "expected a label, found ']'"},
      {"[a b]", 3, "expected ',' or ']' after a label, found 'b'"},
      {"[a", 2, "expected ',' or ']' after a label, found the end of the subscripts"},
      {"it''s", 2, "expected ',', '->' or the end of the subscripts, found '''"},
  };
  for (const auto& mistake : kMistakes) {
    try {
      parsed_subscript(mistake.text);
      ADD_FAILURE() << mistake.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Syntax);
      EXPECT_EQ(error.message(), mistake.message) << mistake.text;
      EXPECT_EQ(error.span().value().begin, mistake.offset + 8) << mistake.text;
    }
  }
}

TEST(SubscriptParser, NestingIsBounded) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '(') + "i" + std::string(depth, ')'); };
  EXPECT_NO_THROW(parsed_subscript(nested(kMaxNesting)));
  EXPECT_THROW(parsed_subscript(nested(kMaxNesting + 1)), Error);
  EXPECT_THROW(parsed_subscript(nested(1'000'000)), Error);
}

}  // namespace
}  // namespace eindb
