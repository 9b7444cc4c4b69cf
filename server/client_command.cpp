#include "server/client_command.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

using command::Begin;
using command::Commit;
using command::Deallocate;
using command::Discard;
using command::Nothing;
using command::Reset;
using command::Rollback;
using command::Set;
using command::Show;

// No command that is known here is longer.
constexpr std::size_t kMostBytes = 512;

struct Token {
  enum class Kind : char { Word, Text, Number, Sign } kind;
  std::string text;  // of a word in lower case unless it was in quotes; of a 'text' without quotes
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$'; }

// Between quotes, which are doubled inside; npos if there is no end.
std::size_t quoted(std::string_view text, std::size_t begin, std::string& out) {
  const char quote = text[begin];
  for (std::size_t n = begin + 1; n < text.size(); ++n) {
    if (text[n] != quote) {
      out += text[n];
    } else if (n + 1 < text.size() && text[n + 1] == quote) {
      out += quote;
      ++n;
    } else {
      return n + 1;
    }
  }
  return std::string_view::npos;
}

// The end of what has no meaning at `begin`: spaces and comments.
std::size_t skip_space(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    const auto rest = text.substr(begin);
    if (std::isspace(static_cast<unsigned char>(rest[0])) != 0) ++begin;
    else if (rest.starts_with("--")) begin = std::min(text.size(), text.find('\n', begin));
    else if (rest.starts_with("/*")) begin = std::min(text.size(), text.find("*/", begin + 2)) + 2;
    else break;
  }
  return std::min(begin, text.size());
}

// nullopt for what no command has.
std::optional<std::vector<Token>> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (auto n = skip_space(text, 0); n < text.size(); n = skip_space(text, n)) {
    const char c = text[n];
    if (c == '\'' || c == '"') {
      Token token{c == '"' ? Token::Kind::Word : Token::Kind::Text, {}};
      n = quoted(text, n, token.text);
      if (n == std::string_view::npos) return std::nullopt;
      tokens.push_back(std::move(token));
    } else if (is_word(c) || (c == '-' && n + 1 < text.size() && is_word(text[n + 1]))) {
      const auto begin = n++;
      while (n < text.size() && is_word(text[n])) ++n;
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-';
      tokens.push_back({number ? Token::Kind::Number : Token::Kind::Word, to_lower(text.substr(begin, n - begin))});
    } else {
      tokens.push_back({Token::Kind::Sign, std::string(1, c)});
      ++n;
    }
  }
  if (!tokens.empty() && tokens.back().text == ";") tokens.pop_back();
  return tokens;
}

class CommandParser {
 public:
  explicit CommandParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::optional<ClientCommand> parse() {
    if (takes("begin") || (takes("start") && takes("transaction"))) return transaction<Begin>();
    if (takes("commit") || takes("end")) return transaction<Commit>();
    if (takes("rollback") || takes("abort")) return transaction<Rollback>();
    if (takes("set")) return set();
    if (takes("show")) return show();
    if (takes("reset")) return named<Reset>();
    if (takes("deallocate")) {
      takes("prepare");
      return named<Deallocate>();
    }
    if (takes("discard") && takes("all") && at_end()) return Discard{};
    if (takes("close") && takes("all") && at_end()) return Nothing{"CLOSE CURSOR ALL"};
    if (takes("listen")) return Nothing{"LISTEN"};
    if (takes("unlisten")) return Nothing{"UNLISTEN"};
    return std::nullopt;
  }

 private:
  bool at_end() const { return next_ == tokens_.size(); }
  bool takes(std::string_view text) {
    if (at_end() || tokens_[next_].kind == Token::Kind::Text || tokens_[next_].text != text) return false;
    ++next_;
    return true;
  }
  // All that is left, with spaces between.
  std::string rest() {
    std::string text;
    for (; !at_end(); ++next_) {
      const bool joined = text.empty() || tokens_[next_].text == ",";
      text += (joined ? "" : " ") + tokens_[next_].text;
    }
    return text;
  }

  // Modes of a transaction change nothing: all are serializable. BEGIN IMMEDIATE, ROLLBACK TO and COMMIT PREPARED are
  // not of this kind.
  template <class T>
  std::optional<ClientCommand> transaction() {
    static constexpr std::array<std::string_view, 18> kModes{
        "work",       "transaction", "isolation",   "level", "serializable", "repeatable",
        "read",       "committed",   "uncommitted", "only",  "write",        "not",
        "deferrable", "deferred",    ",",           "and",   "no",           "chain"};
    for (; !at_end(); ++next_)
      if (std::find(kModes.begin(), kModes.end(), tokens_[next_].text) == kModes.end()) return std::nullopt;
    return T{};
  }

  std::optional<ClientCommand> set() {
    if (takes("transaction")) return Nothing{"SET"};
    const bool session = takes("session");
    if (session && takes("characteristics")) return Nothing{"SET"};
    if (!session) takes("local");
    if (takes("names")) return Set{"client_encoding", value()};
    if (takes("time") && takes("zone")) return Set{"timezone", value()};
    if (at_end() || tokens_[next_].kind != Token::Kind::Word) return std::nullopt;
    auto name = tokens_[next_++].text;
    if (!takes("=") && !takes("to")) return std::nullopt;
    if (at_end()) return std::nullopt;
    return Set{std::move(name), value()};
  }
  std::optional<std::string> value() {
    if (takes("default")) return std::nullopt;
    return rest();
  }

  std::optional<ClientCommand> show() {
    if (takes("transaction") && takes("isolation") && takes("level") && at_end()) return Show{"transaction_isolation"};
    if (takes("time") && takes("zone") && at_end()) return Show{"timezone"};
    if (tokens_.size() != 2 || tokens_[1].kind != Token::Kind::Word) return std::nullopt;
    return Show{tokens_[1].text};
  }

  template <class T>
  std::optional<ClientCommand> named() {
    if (takes("all") && at_end()) return T{};
    if (next_ + 1 != tokens_.size() || tokens_[next_].kind != Token::Kind::Word) return std::nullopt;
    return T{tokens_[next_].text};
  }

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<ClientCommand> parse_client_command(std::string_view text) {
  const auto begin = skip_space(text, 0);
  if (text.size() - begin > kMostBytes) return std::nullopt;
  auto tokens = tokens_of(text.substr(begin));
  if (!tokens || tokens->empty()) return std::nullopt;
  return CommandParser(*std::move(tokens)).parse();
}

}  // namespace eindb
