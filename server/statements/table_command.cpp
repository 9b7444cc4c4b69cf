#include "server/statements/table_command.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

constexpr std::array<std::string_view, 6> kFirstWords{"drop", "truncate", "vacuum", "analyze", "lock", "alter"};

class TableCommandParser {
 public:
  explicit TableCommandParser(std::span<const Token> tokens) : tokens_(tokens) {}

  std::optional<TableCommand> parse() {
    if (takes("drop")) return drop();
    if (takes("truncate")) return truncated_tables();
    if (takes("vacuum")) return vacuum(true);
    if (takes("analyze")) return vacuum(false);
    if (takes("lock")) return lock();
    if (takes("alter") && takes("table")) {
      const auto begin = next_;
      if (auto alter = alter_column()) return alter;
      next_ = begin;
      if (auto add = add_constraint()) return add;
      next_ = begin;
      return add_columns();
    }
    return std::nullopt;
  }

 private:
  bool at_end() const { return next_ == tokens_.size(); }
  bool takes(std::string_view text) {
    if (at_end() || (!tokens_[next_].is_word(text) && !tokens_[next_].is_symbol(text))) return false;
    ++next_;
    return true;
  }
  bool take_all(std::initializer_list<std::string_view> words) {
    const auto begin = next_;
    if (std::all_of(words.begin(), words.end(), [&](auto word) { return takes(word); })) return true;
    next_ = begin;
    return false;
  }

  std::optional<std::string> plain_name() {
    if (at_end() || !tokens_[next_].is_name()) return std::nullopt;
    const auto& token = tokens_[next_++];
    return token.is(Token::Kind::QuotedName) ? unquote(token) : to_lower(token.text);
  }
  /// name, or public.name.
  std::optional<std::string> table() {
    takes("only");
    auto name = plain_name();
    if (name && takes(".")) name = *name == "public" ? plain_name() : std::nullopt;
    takes("*");
    return name;
  }
  /// One or several names; empty if there is none, or one of another schema.
  std::vector<std::string> tables() {
    std::vector<std::string> names;
    do {
      auto name = table();
      if (!name) return {};
      names.push_back(*std::move(name));
    } while (takes(","));
    return names;
  }
  /// Whether what follows ends in CASCADE; nullopt if anything else is left.
  std::optional<bool> behavior() {
    const bool cascades = takes("cascade");
    if (!cascades) takes("restrict");
    return at_end() ? std::optional(cascades) : std::nullopt;
  }

  std::optional<TableCommand> drop() {
    command::DropTables drop;
    if (takes("table")) drop.kind = "TABLE";
    else if (takes("view")) drop.kind = "VIEW";
    else return std::nullopt;
    drop.if_exists = take_all({"if", "exists"});
    drop.names = tables();
    const bool plain = drop.kind == "VIEW" && drop.names.size() == 1 && at_end();
    const auto cascades = behavior();
    if (drop.names.empty() || plain || !cascades) return std::nullopt;
    drop.cascades = *cascades;
    return drop;
  }

  std::optional<TableCommand> truncated_tables() {
    command::TruncateTables truncate;
    takes("table");
    truncate.tables = tables();
    truncate.restarts = take_all({"restart", "identity"});
    if (!truncate.restarts) take_all({"continue", "identity"});
    const auto cascades = behavior();
    if (truncate.tables.empty() || !cascades) return std::nullopt;
    truncate.cascades = *cascades;
    return truncate;
  }

  /// An option of VACUUM or ANALYZE; false if it is not known.
  bool takes_vacuum_option(command::Vacuum& vacuum) {
    if (takes("full")) vacuum.full = true;
    else if (takes("analyze")) vacuum.analyzes = true;
    else return takes("verbose") || takes("freeze") || takes("skip_locked") || takes("disable_page_skipping");
    return true;
  }
  std::optional<TableCommand> vacuum(bool vacuums) {
    command::Vacuum vacuum;
    vacuum.vacuums = vacuums;
    vacuum.analyzes = !vacuums;
    const bool of_tensor = !vacuums && !at_end() && tokens_[next_].is_word("tensor");  // a statement of eindb
    if ((at_end() && vacuums) || of_tensor) return std::nullopt;
    if (takes("(")) {
      do {
        if (!takes_vacuum_option(vacuum)) return std::nullopt;
        if (!takes("true")) takes("on");
      } while (takes(","));
      if (!takes(")")) return std::nullopt;
    } else {
      while (takes_vacuum_option(vacuum)) continue;
    }
    if (!at_end()) {
      vacuum.tables = tables();
      const bool is_schema = vacuum.tables.size() == 1 && vacuum.tables[0] == "main";  // as SQLite has it
      if (vacuum.tables.empty() || !at_end() || is_schema) return std::nullopt;
    }
    return vacuum;
  }

  std::optional<TableCommand> lock() {
    command::LockTables lock;
    takes("table");
    lock.tables = tables();
    if (lock.tables.empty()) return std::nullopt;
    if (takes("in")) {
      lock.admits_writers = take_all({"access", "share"}) || take_all({"row", "share"});
      const bool known = lock.admits_writers || take_all({"access", "exclusive"}) || take_all({"row", "exclusive"}) ||
                         take_all({"share", "update", "exclusive"}) || take_all({"share", "row", "exclusive"}) ||
                         takes("share") || takes("exclusive");
      if (!known || !takes("mode")) return std::nullopt;
    }
    return at_end() ? std::optional<TableCommand>(lock) : std::nullopt;
  }

  std::optional<TableCommand> alter_column() {
    command::AlterColumn alter;
    alter.if_exists = take_all({"if", "exists"});
    auto name = table();
    if (!name || !takes("alter")) return std::nullopt;
    alter.table = *std::move(name);
    takes("column");
    auto column = plain_name();
    if (!column) return std::nullopt;
    alter.column = *std::move(column);
    const bool sets = takes("set");
    if (!sets && !takes("drop")) return std::nullopt;
    const auto begin = next_;
    alter.of_default = takes("default");
    if (!alter.of_default && !take_all({"not", "null"})) return std::nullopt;
    if (alter.of_default && sets) {
      // A constant, with or without a sign; SQLite takes nothing else without parentheses.
      if (!takes("-")) takes("+");
      if (at_end() || tokens_[next_].is_symbol() || tokens_[next_].is(Token::Kind::Parameter)) return std::nullopt;
      ++next_;
    }
    if (!at_end()) return std::nullopt;
    if (!sets) return alter;
    alter.value.emplace();
    for (auto n = begin; n < next_; ++n) *alter.value += (n == begin ? "" : " ") + std::string(tokens_[n].text);
    return alter;
  }

  std::optional<TableCommand> add_constraint() {
    command::AddConstraint add;
    add.if_exists = take_all({"if", "exists"});
    auto name = table();
    if (!name || !takes("add")) return std::nullopt;
    add.table = *std::move(name);
    const auto begin = next_;
    if (takes("constraint") && !plain_name()) return std::nullopt;
    const bool keys = take_all({"primary", "key"});
    add.refers = !keys && take_all({"foreign", "key"});
    if (!keys && !add.refers && !takes("unique") && !takes("check")) return std::nullopt;
    if (!takes("(")) return std::nullopt;
    if (keys) {
      do {
        auto key = plain_name();
        if (!key) return std::nullopt;
        add.keys.push_back(*std::move(key));
      } while (takes(","));
      if (!takes(")") || !at_end()) return std::nullopt;
    }
    add.definition = definition_from(begin);
    return add.definition.empty() ? std::nullopt : std::optional<TableCommand>(add);
  }

  std::optional<TableCommand> add_columns() {
    command::AddColumns add;
    add.if_exists = take_all({"if", "exists"});
    auto name = table();
    if (!name) return std::nullopt;
    add.table = *std::move(name);
    do {
      auto column = added_column();
      if (!column) return std::nullopt;
      add.columns.push_back(*std::move(column));
    } while (takes(","));
    if (!at_end() || (add.columns.size() == 1 && add.columns[0].is_simple && !add.columns[0].if_not_exists))
      return std::nullopt;
    return add;
  }

  std::optional<command::AddColumns::Column> added_column() {
    command::AddColumns::Column column;
    if (!takes("add")) return std::nullopt;
    const bool says_column = takes("column");
    column.if_not_exists = take_all({"if", "not", "exists"});
    if (!says_column && !at_end() && is_constraint_word(tokens_[next_])) return std::nullopt;
    const auto begin = next_;
    auto name = plain_name();
    if (!name) return std::nullopt;
    column.name = *std::move(name);
    bool requires_value = false;
    bool has_default = false;
    bool is_special = false;
    int depth = 0;
    for (; !at_end() && (depth > 0 || !tokens_[next_].is_symbol(',')); ++next_) {
      const auto& token = tokens_[next_];
      const auto& before = tokens_[next_ - 1];
      const bool calls = next_ + 1 < tokens_.size() && tokens_[next_ + 1].is_symbol('(');
      is_special =
          is_special || (depth == 0 && before.is_word("default") && (token.is_symbol('(') || calls || is_clock(token)));
      depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
      if (depth > 0) continue;
      has_default = has_default || token.is_word("default");
      requires_value = requires_value || (token.is_word("null") && before.is_word("not"));
      column.is_key = column.is_key || (token.is_word("key") && before.is_word("primary"));
      column.refers = column.refers || token.is_word("references");
      is_special = is_special || token.is_word("unique") || token.is_word("stored");
    }
    column.is_simple = !is_special && !column.is_key && (has_default || !requires_value);
    for (auto n = begin; n < next_; ++n) column.definition += (n == begin ? "" : " ") + std::string(tokens_[n].text);
    return column;
  }
  static bool is_clock(const Token& token) {
    return token.is_word("current_timestamp") || token.is_word("current_date") || token.is_word("current_time") ||
           token.is_word("localtimestamp") || token.is_word("localtime");
  }
  static bool is_constraint_word(const Token& token) {
    return token.is_word("constraint") || token.is_word("primary") || token.is_word("unique") ||
           token.is_word("check") || token.is_word("foreign");
  }

  /// The text from a token on, without the schema public; empty if another action follows.
  std::string definition_from(std::size_t begin) const {
    std::string out;
    int depth = 0;
    for (auto n = begin; n < tokens_.size(); ++n) {
      const auto& token = tokens_[n];
      depth += token.is_symbol('(') ? 1 : token.is_symbol(')') ? -1 : 0;
      if (depth == 0 && token.is_symbol(',')) return {};
      if (token.is_word("public") && n + 1 < tokens_.size() && tokens_[n + 1].is_symbol('.')) {
        ++n;
        continue;
      }
      out += (out.empty() ? "" : " ") + std::string(token.text);
    }
    return out;
  }

  std::span<const Token> tokens_;
  std::size_t next_ = 0;
};

}  // namespace

bool may_be_table_command(std::string_view text) {
  const auto first = Tokenizer(text, kPostgresRules).next();
  return std::any_of(kFirstWords.begin(), kFirstWords.end(), [&](auto word) { return first.is_word(word); });
}

std::optional<TableCommand> parse_table_command(std::span<const Token> tokens) {
  return TableCommandParser(tokens).parse();
}

}  // namespace eindb
