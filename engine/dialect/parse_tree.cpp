#include "engine/dialect/parse_tree.hpp"

#include <pg_query.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "engine/dialect/parser_memory.hpp"
#include "parser/tokenizer.hpp"

namespace eindb::dialect {
namespace {

/// The parser and its messages call themselves for each level of a tree.
constexpr std::size_t kDeepest = 1000;
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
/// More than the parser, its message and the tree take.
constexpr std::size_t kLeastReserve = std::size_t{256} << 10U;
constexpr std::size_t kReservePerByte = 400;

/// An upper bound of the tree's depth: open parentheses, and what precedes in the same element of a list.
bool may_be_too_deep(std::string_view text) {
  Tokenizer tokenizer(text, kPostgresRules);
  std::vector<std::size_t> levels{0};
  std::size_t depth = 0;
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (token.is(Token::Kind::Unterminated)) return true;
    if (token.is_symbol('(') || token.is_symbol('[')) {
      levels.push_back(0);
    } else if (token.is_symbol(')') || token.is_symbol(']')) {
      if (levels.size() == 1) return true;
      depth -= levels.back();
      levels.pop_back();
      depth -= 1;
    } else if (token.is_symbol(',')) {
      depth -= levels.back();
      levels.back() = 0;
      continue;
    } else if (token.is(Token::Kind::Operator) || token.is(Token::Kind::Word)) {
      ++levels.back();
    } else {
      continue;
    }
    if (++depth > kDeepest) return true;
  }
  return false;
}

}  // namespace

void ParseTree::Free::operator()(PgQuery__ParseResult* tree) const noexcept {
  pg_query__parse_result__free_unpacked(tree, nullptr);
}

std::optional<ParseTree> ParseTree::parse(std::string_view text) {
  if (text.size() > kMostBytes || text.find('\0') != std::string_view::npos || may_be_too_deep(text))
    return std::nullopt;
  const ParserMemory memory(kLeastReserve + kReservePerByte * text.size());
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

const PgNode& ParseTree::statement() const {
  CHECK(tree_ != nullptr && tree_->n_stmts == 1, "a tree is that of one statement");
  return *tree_->stmts[0]->stmt;
}

}  // namespace eindb::dialect
