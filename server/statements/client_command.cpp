#include "server/statements/client_command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "engine/statement_text.hpp"

namespace eindb {
namespace {

using command::Begin;
using command::CloseCursor;
using command::Commit;
using command::Deallocate;
using command::Discard;
using command::Fetch;
using command::Kill;
using command::Nothing;
using command::Release;
using command::Reset;
using command::Rollback;
using command::RollbackTo;
using command::Savepoint;
using command::Set;
using command::SetTransaction;
using command::Show;
using command::ShowSessions;

// The longest commands that are recognised, in bytes: some name many tables.
constexpr std::size_t kMostBytes = 512;
constexpr std::size_t kMostTableBytes = 65536;

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
    if (takes("begin")) return begin(false);
    if (takes("start")) return begin(true);
    if (takes("commit") || takes("end")) return end<Commit>();
    if (takes("rollback") || takes("abort")) return rollback();
    if (takes("savepoint")) return savepoint<Savepoint>();
    if (takes("release")) {
      takes("savepoint");
      return savepoint<Release>();
    }
    if (takes("fetch")) return fetch(false);
    if (takes("move")) return fetch(true);
    if (takes("set")) return set();
    if (takes("show")) return show();
    if (takes("reset")) return named<Reset>();
    if (takes("deallocate")) {
      takes("prepare");
      return named<Deallocate>();
    }
    if (takes("discard") && takes("all") && at_end()) return Discard{};
    if (takes("close")) return named<CloseCursor>();
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

  bool takes_both(std::string_view first, std::string_view second) {
    if (next_ + 1 >= tokens_.size() || !tokens_[next_].is_word(first) || !tokens_[next_ + 1].is_word(second))
      return false;
    next_ += 2;
    return true;
  }

  // One mode of a transaction; false if there is none.
  bool takes_mode(TransactionModes& modes) {
    if (takes_both("read", "only")) modes.read_only = true;
    else if (takes_both("read", "write")) modes.read_only = false;
    else if (takes_both("isolation", "level")) return takes_level(modes);
    else if (takes_both("not", "deferrable")) modes.deferrable = false;
    else if (takes("deferrable")) modes.deferrable = true;
    else return false;
    return true;
  }
  bool takes_level(TransactionModes& modes) {
    if (takes("serializable")) modes.isolation = "serializable";
    else if (takes_both("repeatable", "read")) modes.isolation = "repeatable read";
    else if (takes_both("read", "committed")) modes.isolation = "read committed";
    else if (takes_both("read", "uncommitted")) modes.isolation = "read uncommitted";
    else return false;
    return true;
  }
  // All modes up to the end; false if anything else stands there.
  bool takes_modes(TransactionModes& modes) {
    do {
      if (!takes_mode(modes)) return false;
    } while (takes(",") || !at_end());
    return true;
  }

  // BEGIN IMMEDIATE and COMMIT PREPARED are not recognised here.
  std::optional<ClientCommand> begin(bool starts) {
    if (starts && !takes("transaction")) return std::nullopt;
    if (!starts && !takes("work")) takes("transaction");
    Begin begin{.modes = {}, .starts = starts};
    if (at_end() || takes_modes(begin.modes)) return begin;
    return std::nullopt;
  }
  template <class T>
  std::optional<ClientCommand> end() {
    if (!takes("work")) takes("transaction");
    T end;
    if (takes("and")) {
      end.chain = !takes("no");
      if (!takes("chain")) return std::nullopt;
    }
    return at_end() ? std::optional<ClientCommand>(end) : std::nullopt;
  }
  std::optional<ClientCommand> rollback() {
    const auto begin = next_;
    if (!takes("work")) takes("transaction");
    if (takes("to")) {
      takes("savepoint");
      return savepoint<RollbackTo>();
    }
    next_ = begin;
    return end<Rollback>();
  }
  template <class T>
  std::optional<ClientCommand> savepoint() {
    if (next_ + 1 != tokens_.size() || !tokens_[next_].is_name()) return std::nullopt;
    return T{value_of(tokens_[next_])};
  }

  std::optional<ClientCommand> set_transaction(bool session) {
    SetTransaction set{.modes = {}, .session = session};
    return takes_modes(set.modes) ? std::optional<ClientCommand>(set) : std::nullopt;
  }

  std::optional<ClientCommand> set() {
    if (takes("transaction")) return set_transaction(false);
    const bool session = takes("session");
    if (session && takes("characteristics"))
      return takes("as") && takes("transaction") ? set_transaction(true) : std::nullopt;
    const bool local = !session && takes("local");
    if (takes("names")) return Set{"client_encoding", value(), local};
    if (takes("time") && takes("zone")) return Set{"timezone", value(), local};
    if (at_end() || !tokens_[next_].is_name()) return std::nullopt;
    auto name = value_of(tokens_[next_++]);
    if (!takes("=") && !takes("to")) return std::nullopt;
    if (at_end()) return std::nullopt;
    return Set{std::move(name), value(), local};
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

  // A whole number with or without a sign; nullopt leaves the tokens where they are.
  std::optional<std::int64_t> number() {
    const auto begin = next_;
    const bool negative = takes("-");
    if (!negative) takes("+");
    std::int64_t value = 0;
    if (!at_end()) {
      const auto text = tokens_[next_].text;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error == std::errc() && end == text.data() + text.size() && value < Fetch::kAll) {
        ++next_;
        return negative ? -value : value;
      }
    }
    next_ = begin;
    return std::nullopt;
  }

  // A count of rows: of Forward and Backward it is not negative.
  static void turn(Fetch& fetch, Fetch::Direction direction, std::int64_t count) {
    DCHECK(count >= -Fetch::kAll, "every number of rows has its opposite");
    const bool back = direction == Fetch::Direction::Backward;
    fetch.direction = (count < 0) == back ? Fetch::Direction::Forward : Fetch::Direction::Backward;
    fetch.count = count < 0 ? -count : count;
  }
  // [number | ALL] of FORWARD, BACKWARD, or of neither.
  void take_count(Fetch& fetch, Fetch::Direction direction) {
    if (takes("all")) turn(fetch, direction, Fetch::kAll);
    else turn(fetch, direction, number().value_or(1));
  }
  bool take_place(Fetch& fetch, Fetch::Direction direction) {
    const auto place = number();
    fetch.direction = direction;
    fetch.count = place.value_or(0);
    return place.has_value();
  }
  // A word is a direction unless the statement ends with it: it is a cursor's name then.
  std::optional<ClientCommand> fetch(bool moves) {
    using Direction = Fetch::Direction;
    Fetch fetch;
    fetch.moves = moves;
    const auto directs = [&](std::string_view word) { return next_ + 1 < tokens_.size() && takes(word); };
    if (directs("next")) fetch.count = 1;
    else if (directs("prior")) fetch.direction = Direction::Backward;
    else if (directs("first")) fetch.direction = Direction::Absolute;
    else if (directs("last")) turn_to_last(fetch);
    else if (directs("absolute")) {
      if (!take_place(fetch, Direction::Absolute)) return std::nullopt;
    } else if (directs("relative")) {
      if (!take_place(fetch, Direction::Relative)) return std::nullopt;
    } else if (directs("backward")) take_count(fetch, Direction::Backward);
    else if (directs("forward") || next_ + 1 < tokens_.size()) take_count(fetch, Direction::Forward);
    if (!takes("from")) takes("in");
    if (next_ + 1 != tokens_.size() || !tokens_[next_].is_name()) return std::nullopt;
    fetch.cursor = value_of(tokens_[next_]);
    return fetch;
  }
  static void turn_to_last(Fetch& fetch) {
    fetch.direction = Fetch::Direction::Absolute;
    fetch.count = -1;
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
  if (text.size() > (may_be_table_command(text) ? kMostTableBytes : kMostBytes)) return std::nullopt;
  auto tokens = tokens_of_command(text);
  if (!tokens || tokens->empty()) return std::nullopt;
  if (auto command = parse_table_command(*tokens))
    return std::visit([](auto& kind) -> ClientCommand { return std::move(kind); }, *command);
  return CommandParser(*std::move(tokens)).parse();
}

}  // namespace eindb
