#include "server/statements/client_command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <vector>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "engine/statement_text.hpp"

namespace eindb {
namespace {

using command::Begin;
using command::Commit;
using command::Deallocate;
using command::Discard;
using command::Kill;
using command::Nothing;
using command::Reset;
using command::Rollback;
using command::Set;
using command::Show;
using command::ShowSessions;

// The longest command that is recognised, in bytes.
constexpr std::size_t kMostBytes = 512;

// The tokens without comments and the final semicolon; nullopt if a quote is not closed, or if an escape is not valid
// UTF-8.
std::optional<std::vector<Token>> tokens_of_command(std::string_view text) {
  auto tokens = tokens_of(text, kPostgresRules);
  DCHECK(!tokens.empty(), "the end stands behind the tokens of a command");
  if (tokens.back().is(Token::Kind::Unterminated)) return std::nullopt;
  tokens.pop_back();  // the End token
  std::erase_if(tokens, [](const Token& token) { return token.is(Token::Kind::NestedComment); });
  const auto gives_text = [](const Token& token) {
    return !token.is(Token::Kind::EscapeString) || is_utf8(string_value(token));
  };
  if (!std::all_of(tokens.begin(), tokens.end(), gives_text)) return std::nullopt;
  if (!tokens.empty() && tokens.back().is_symbol(';')) tokens.pop_back();
  return tokens;
}

// The value of a token: words in lower case, names and strings without their quotes.
std::string value_of(const Token& token) {
  if (token.is_string()) return string_value(token);
  if (token.is(Token::Kind::Word)) return to_lower(token.text);
  return token.is(Token::Kind::QuotedName) ? unquote(token) : std::string(token.text);
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
    if (takes("kill")) return kill();
    if (takes("listen")) return Nothing{"LISTEN"};
    if (takes("unlisten")) return Nothing{"UNLISTEN"};
    return std::nullopt;
  }

 private:
  bool at_end() const { return next_ == tokens_.size(); }
  bool takes(std::string_view text) {
    if (at_end() || (!tokens_[next_].is_word(text) && !tokens_[next_].is_symbol(text))) return false;
    ++next_;
    return true;
  }
  // The remaining tokens, separated by spaces.
  std::string rest() {
    std::string text;
    for (; !at_end(); ++next_) {
      const bool joined = text.empty() || tokens_[next_].is_symbol(',') || tokens_[next_ - 1].is(Token::Kind::Operator);
      text += (joined ? "" : " ") + value_of(tokens_[next_]);
    }
    return text;
  }

  // Transaction modes are accepted and ignored, since all transactions are serializable. BEGIN IMMEDIATE, ROLLBACK TO
  // and COMMIT PREPARED are not recognised here.
  template <class T>
  std::optional<ClientCommand> transaction() {
    static constexpr std::array<std::string_view, 18> kModes{
        "work",       "transaction", "isolation",   "level", "serializable", "repeatable",
        "read",       "committed",   "uncommitted", "only",  "write",        "not",
        "deferrable", "deferred",    ",",           "and",   "no",           "chain"};
    for (; !at_end(); ++next_)
      if (std::find(kModes.begin(), kModes.end(), value_of(tokens_[next_])) == kModes.end()) return std::nullopt;
    return T{};
  }

  std::optional<ClientCommand> set() {
    if (takes("transaction")) return Nothing{"SET"};
    const bool session = takes("session");
    if (session && takes("characteristics")) return Nothing{"SET"};
    if (!session) takes("local");
    if (takes("names")) return Set{"client_encoding", value()};
    if (takes("time") && takes("zone")) return Set{"timezone", value()};
    if (at_end() || !tokens_[next_].is_name()) return std::nullopt;
    auto name = value_of(tokens_[next_++]);
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
    if (tokens_.size() == 2 && takes("sessions")) return ShowSessions{};
    if (tokens_.size() != 2 || !tokens_[1].is_name()) return std::nullopt;
    return Show{value_of(tokens_[1])};
  }

  std::optional<ClientCommand> kill() {
    const bool connection = takes("connection");
    if (!connection) takes("query");
    if (next_ + 1 != tokens_.size()) return std::nullopt;
    const auto text = tokens_[next_].text;
    Kill kill{.connection = connection};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kill.session);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return kill;
  }

  template <class T>
  std::optional<ClientCommand> named() {
    if (takes("all") && at_end()) return T{};
    if (next_ + 1 != tokens_.size() || !tokens_[next_].is_name()) return std::nullopt;
    return T{value_of(tokens_[next_])};
  }

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<ClientCommand> parse_client_command(std::string_view text) {
  if (text.size() > kMostBytes) return std::nullopt;
  auto tokens = tokens_of_command(text);
  if (!tokens || tokens->empty()) return std::nullopt;
  return CommandParser(*std::move(tokens)).parse();
}

}  // namespace eindb
