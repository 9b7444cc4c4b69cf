// The lexical forms of the tokenizer's languages: token boundaries and kinds.
#include "parser/tokenizer.hpp"

#include <gtest/gtest.h>

#include <string>

#include "parser/token_value.hpp"
#include "parser/utf8.hpp"
#include "tests/processor_time.hpp"

namespace eindb {
namespace {

char letter_of(Token::Kind kind) {
  switch (kind) {
    case Token::Kind::End: return '.';
    case Token::Kind::Unterminated: return 'u';
    case Token::Kind::Malformed: return 'm';
    case Token::Kind::Word: return 'w';
    case Token::Kind::QuotedName: return 'q';
    case Token::Kind::String: return 's';
    case Token::Kind::EscapeString: return 'E';
    case Token::Kind::UnicodeString: return 'U';
    case Token::Kind::DollarString: return 'D';
    case Token::Kind::Bits: return 'X';
    case Token::Kind::Integer: return 'i';
    case Token::Kind::Real: return 'r';
    case Token::Kind::Parameter: return 'p';
    case Token::Kind::Operator: return 'o';
    case Token::Kind::Symbol: return 'y';
    case Token::Kind::NestedComment: return 'c';
  }
  return '?';
}

/// The tokens with their kinds: "w:SELECT i:1".
std::string cut(std::string_view text, const LexicalRules& rules) {
  std::string out;
  std::size_t end = 0;
  for (const auto& token : tokens_of(text, rules)) {
    EXPECT_GE(token.span.begin, end);
    EXPECT_EQ(token.text, text.substr(token.span.begin, token.span.end - token.span.begin));
    end = token.span.end;
    if (!token.is(Token::Kind::End))
      out += std::string(out.empty() ? "" : " ") + letter_of(token.kind) + ":" + std::string(token.text);
  }
  return out;
}

TEST(Tokenizer, AnyStatementCoarsely) {
  const auto coarse = [](std::string_view text) { return cut(text, kCoarseRules); };
  EXPECT_EQ(coarse("SELECT a.b,$1 1.5 <= 'it''s'"), "w:SELECT w:a y:. w:b y:, w:$1 w:1 y:. w:5 o:< o:= s:'it''s'");
  EXPECT_EQ(coarse("[a b] `c``d` \"e\"\"f\" [open"), "q:[a b] q:`c``d` q:\"e\"\"f\" y:[ w:open");
  EXPECT_EQ(coarse("a /* b /* c */ d -- e\n;"), "w:a w:d y:;");
  EXPECT_EQ(coarse("E'\\' X'0A' $$a$$"), "w:E s:'\\' w:X s:'0A' w:$$a$$");
  EXPECT_EQ(coarse("a 'open;"), "w:a u:'open;");
  EXPECT_EQ(coarse("a /* open"), "w:a u:/* open");
  EXPECT_EQ(coarse("\xff \x01"), "w:\xff y:\x01");
}

TEST(Tokenizer, StatementsOfEindb) {
  const auto eindb = [](std::string_view text) { return cut(text, kEindbRules); };
  EXPECT_EQ(eindb("X[i]<=1.5e-3==.5"), "w:X y:[ w:i y:] o:<= r:1.5e-3 o:== r:.5");
  EXPECT_EQ(eindb("12abc 1.5j $1 $1a $ 7."), "m:12abc m:1.5j p:$1 m:$1a m:$ r:7.");
  EXPECT_EQ(eindb("\xCE\xBC\xC3\xA9 \xC3\x97 `a"), "w:\xCE\xBC\xC3\xA9 y:\xC3\x97 y:` w:a");
  EXPECT_EQ(eindb("a::b a||b"), "w:a o:: o:: w:b w:a o:| o:| w:b");
}

TEST(Tokenizer, SqlAsSqliteReadsIt) {
  const auto sqlite = [](std::string_view text) { return cut(text, kSqliteRules); };
  EXPECT_EQ(sqlite("a->>'x'||b<<2"), "w:a o:->> s:'x' o:|| w:b o:<< i:2");
  EXPECT_EQ(sqlite("x'0A' b'1' 0x1F 1_000 1e5 $1 $1a [a b]"),
            "X:x'0A' w:b s:'1' i:0x1F i:1_000 r:1e5 p:$1 m:$1a q:[a b]");
}

TEST(Tokenizer, SqlAsPostgresReadsIt) {
  const auto postgres = [](std::string_view text) { return cut(text, kPostgresRules); };
  EXPECT_EQ(postgres("a[1]::int8 !~*-1 a=-1"), "w:a y:[ i:1 y:] o::: w:int8 o:!~*- i:1 w:a o:= o:- i:1");
  EXPECT_EQ(postgres("E'\\'' U&'d\\0061' B'1' X'0A' u&x"), "E:E'\\'' U:U&'d\\0061' X:B'1' X:X'0A' w:u o:& w:x");
  EXPECT_EQ(postgres("$$a;b'$$ $t$x$$y$t$ $1 $a"), "D:$$a;b'$$ D:$t$x$$y$t$ p:$1 y:$ w:a");
  EXPECT_EQ(postgres("a /* b /* c */ d */ e /* f */"), "w:a c:/* b /* c */ d */ w:e");
  EXPECT_EQ(postgres("a /* b /* c */"), "w:a u:/* b /* c */");
  EXPECT_EQ(postgres("a E'\\'"), "w:a u:E'\\'");
  EXPECT_EQ(postgres("a $t$ b"), "w:a u:$t$ b");
}

TEST(Tokenizer, ValuesOfTokens) {
  const auto value = [](std::string_view text) { return string_value(tokens_of(text, kPostgresRules).front()); };
  EXPECT_EQ(value("'it''s'"), "it's");
  EXPECT_EQ(value("E'\\'\\n\\x41\\101\\u20ac\\U00000041\\q'"),
            "'\nAA\xE2\x82\xAC"
            "Aq");
  EXPECT_EQ(value("E'\\xe2\\x82\\xac'"), "\xE2\x82\xAC");
  EXPECT_FALSE(is_utf8(value("E'\\xff'")));
  EXPECT_EQ(value("U&'d\\0061t\\+000061\\\\'"), "data\\");
  EXPECT_EQ(value("$t$a'b$$c$t$"), "a'b$$c");
  EXPECT_EQ(value("X'0A'"), "0A");
  EXPECT_EQ(unquote(tokens_of("[a]]", kCoarseRules).front()), "a");
  EXPECT_EQ(unquote(tokens_of("`a``b`", kCoarseRules).front()), "a`b");
  EXPECT_EQ(parameter_number("$12"), 12U);
  for (const auto* none : {"$0", "$", "$1a", "12", "$99999999999999999999"}) EXPECT_EQ(parameter_number(none), 0U);
}

TEST(Tokenizer, TakesLinearTime) {
  constexpr std::size_t kTimes = 200'000;
  for (const auto* part : {"[", "'", "$a", "/*", "$", "\\", "E'"}) {
    std::string text;
    for (std::size_t n = 0; n < kTimes; ++n) text += part;
    const double begin = testing::thread_seconds();
    for (const auto* rules : {&kCoarseRules, &kEindbRules, &kSqliteRules, &kPostgresRules}) tokens_of(text, *rules);
    EXPECT_LT(testing::thread_seconds() - begin, 10) << part;
  }
}

}  // namespace
}  // namespace eindb
