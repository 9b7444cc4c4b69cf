#include "engine/dialect/parse_tree.hpp"

#include <pg_query.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "engine/dialect/parser_memory.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

/// The parser and its messages call themselves for each level of a tree.
constexpr std::size_t kDeepest = 1000;
/// What the parser, its message and the tree take: texts are copied some ten times, each token becomes nodes.
constexpr std::size_t kLeastReserve = std::size_t{256} << 10U;
constexpr std::size_t kReservePerByte = 16;
constexpr std::size_t kReservePerToken = 700;
constexpr std::size_t kMostReserve = std::size_t{2} << 30U;

/// An upper bound of the tree's size and depth. The depth: open parentheses, and what precedes in the same element of a
/// list. Joined tables and queries nest to the left, beyond commas; AND and OR do not nest.
struct Extent {
  std::size_t tokens = 0;
  std::size_t depth = 0;
  bool is_closed = true;  ///< no parenthesis and no string is left open
};

Extent extent_of(std::string_view text) {
  struct Level {
    std::size_t in_element = 0;
    std::size_t chain = 0;
  };
  Extent extent;
  Tokenizer tokenizer(text, kPostgresRules);
  std::vector<Level> levels(1);
  std::size_t depth = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    ++extent.tokens;
    if (token.is(Token::Kind::Unterminated)) {
      extent.is_closed = false;
      return extent;
    }
    auto& level = levels.back();
    if (token.is_symbol('(') || token.is_symbol('[')) {
      levels.emplace_back();
      ++depth;
    } else if (token.is_symbol(')') || token.is_symbol(']')) {
      extent.is_closed = levels.size() > 1;
      if (!extent.is_closed) return extent;
      depth -= level.in_element + level.chain + 1;
      levels.pop_back();
    } else if (token.is_symbol(',') || token.is_word("AND") || token.is_word("OR")) {
      depth -= std::exchange(level.in_element, 0);
    } else if (token.is_word("UNION") || token.is_word("INTERSECT") || token.is_word("EXCEPT") ||
               token.is_word("JOIN")) {
      depth -= std::exchange(level.in_element, 0);
      ++level.chain;
      ++depth;
    } else if (token.is(Token::Kind::Operator) || token.is(Token::Kind::Word)) {
      ++level.in_element;
      ++depth;
    }
    extent.depth = std::max(extent.depth, depth);
  }
  return extent;
}

}  // namespace

void ParseTree::Free::operator()(PgQuery__ParseResult* tree) const noexcept {
  pg_query__parse_result__free_unpacked(tree, nullptr);
}

std::optional<ParseTree> ParseTree::parse(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  const auto extent = extent_of(text);
  if (!extent.is_closed) return std::nullopt;
  if (extent.depth > kDeepest)
    throw CodedError("54001", ErrorKind::Unsupported, "stack depth limit exceeded: the statement is nested too deeply",
                     "divide it into several statements");
  const auto reserve = kLeastReserve + kReservePerByte * text.size() + kReservePerToken * extent.tokens;
  if (reserve > kMostReserve)
    throw CodedError("54000", ErrorKind::Unsupported,
                     "the statement is too long: it has " + std::to_string(extent.tokens) + " words and values",
                     "send rows by COPY, or in several statements");
  const ParserMemory memory(reserve);
  const auto result = pg_query_parse_protobuf(std::string(text).c_str());
  struct FreeResult {
    const PgQueryProtobufParseResult& result;
    ~FreeResult() { pg_query_free_protobuf_parse_result(result); }
  } const free{result};
  if (result.error != nullptr) return std::nullopt;
  auto* const tree = pg_query__parse_result__unpack(nullptr, result.parse_tree.len,
                                                    reinterpret_cast<const std::uint8_t*>(result.parse_tree.data));
  if (tree == nullptr) throw std::bad_alloc();
  ParseTree parsed(tree);
  if (tree->n_stmts != 1 || tree->stmts[0]->stmt == nullptr) return std::nullopt;
  return parsed;
}

std::optional<SyntaxError> syntax_error(std::string_view text) {
  const auto extent = extent_of(text);
  if (extent.depth > kDeepest) return std::nullopt;
  const auto reserve = kLeastReserve + kReservePerByte * text.size() + kReservePerToken * extent.tokens;
  if (reserve > kMostReserve) return std::nullopt;
  const ParserMemory memory(reserve);
  const auto result = pg_query_parse_protobuf(std::string(text).c_str());
  std::optional<SyntaxError> error;
  if (result.error != nullptr)
    error = SyntaxError{result.error->message, static_cast<std::size_t>(std::max(result.error->cursorpos, 1)) - 1};
  pg_query_free_protobuf_parse_result(result);
  return error;
}

const PgNode& ParseTree::statement() const {
  CHECK(tree_ != nullptr && tree_->n_stmts == 1, "a tree is that of one statement");
  return *tree_->stmts[0]->stmt;
}

}  // namespace eindb::dialect
