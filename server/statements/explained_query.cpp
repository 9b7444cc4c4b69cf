#include "server/statements/explained_query.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/results/rows.hpp"
#include "server/dialect/dialect.hpp"

namespace eindb {
namespace {

/// An option between parentheses: FORMAT JSON, ANALYZE, COSTS off.
struct Option {
  Token name;
  Token value;  ///< End: none
};

/// Reads the words before the explained statement; `token_` is the next token.
class ExplainReader {
 public:
  explicit ExplainReader(std::string_view text) : text_(text), tokenizer_(text, kPostgresRules) { advance(); }

  std::optional<ExplainedQuery> read() {
    if (!takes("EXPLAIN")) return std::nullopt;
    std::vector<Option> options;
    if (token_.is_symbol('(') && !opens_query()) {
      if (!take_options(options)) return std::nullopt;
    } else {
      while (token_.is_word("ANALYZE") || token_.is_word("ANALYSE") || token_.is_word("VERBOSE")) {
        options.push_back({token_, {}});
        advance();
      }
    }
    ExplainedQuery explained{.query = token_.span.begin};
    const auto rest = text_.substr(explained.query);
    const auto outline = outline_of(rest);
    explained.kind = outline.kind;
    if (!is_explained_here(outline) || !is_sql_for_sqlite(rest)) return std::nullopt;
    for (const auto& option : options) apply(option, explained);
    if (explained.analyze && explained.kind != StatementKind::Select)
      throw Error(ErrorKind::Unsupported, "EXPLAIN ANALYZE runs queries alone, not statements that write", token_.span,
                  "EXPLAIN shows the plan of such a statement without running it");
    return explained;
  }

 private:
  static bool is_explained_here(const StatementOutline& outline) {
    return outline.kind == StatementKind::Select || outline.kind == StatementKind::Insert ||
           outline.kind == StatementKind::Update || outline.kind == StatementKind::Delete;
  }

  void advance() {
    do token_ = tokenizer_.next();
    while (token_.is(Token::Kind::NestedComment));
  }
  bool takes(std::string_view word) {
    if (!token_.is_word(word)) return false;
    advance();
    return true;
  }
  /// Whether the parenthesis is that of a query: EXPLAIN (SELECT 1).
  bool opens_query() const {
    const auto next = Tokenizer(tokenizer_).next();
    return next.is_symbol('(') || next.is_word("SELECT") || next.is_word("VALUES") || next.is_word("TABLE") ||
           next.is_word("WITH");
  }
  bool take_options(std::vector<Option>& options) {
    do {
      advance();
      if (!token_.is(Token::Kind::Word)) return false;
      Option option{token_, {}};
      advance();
      if (!token_.is_symbol(',') && !token_.is_symbol(')')) {
        option.value = token_;
        advance();
      }
      options.push_back(option);
    } while (token_.is_symbol(','));
    if (!token_.is_symbol(')')) return false;
    advance();
    return true;
  }

  static std::string value_of(const Option& option) {
    if (option.value.is_string()) return to_lower(string_value(option.value));
    return to_lower(option.value.text);
  }
  static bool is_on(const Option& option) {
    const auto value = value_of(option);
    return value.empty() || value == "on" || value == "true" || value == "1";
  }
  static void apply(const Option& option, ExplainedQuery& explained) {
    // What they show of PostgreSQL's plans is not in those of SQLite.
    constexpr std::array<std::string_view, 7> kWithoutEffect{"BUFFERS", "COSTS",   "SETTINGS", "SUMMARY",
                                                             "TIMING",  "VERBOSE", "WAL"};
    if (option.name.is_word("ANALYZE") || option.name.is_word("ANALYSE")) {
      explained.analyze = is_on(option);
    } else if (option.name.is_word("FORMAT")) {
      const auto format = value_of(option);
      if (format != "text" && format != "json")
        throw Error(ErrorKind::Unsupported, "a plan is written as text or as JSON", option.value.span,
                    "EXPLAIN (FORMAT JSON) SELECT ...");
      explained.json = format == "json";
    } else {
      bool known = false;
      for (const auto word : kWithoutEffect) known = known || option.name.is_word(word);
      if (!known)
        throw Error(ErrorKind::Syntax, "unrecognized EXPLAIN option \"" + to_lower(option.name.text) + "\"",
                    option.name.span, "ANALYZE and FORMAT are options of EXPLAIN for SQL");
    }
  }

  std::string_view text_;
  Tokenizer tokenizer_;
  Token token_;
};

std::string_view root_of(const ExplainedQuery& explained) {
  switch (explained.kind) {
    case StatementKind::Insert: return "Insert";
    case StatementKind::Update: return "Update";
    case StatementKind::Delete: return "Delete";
    default: return "Query";
  }
}

std::string milliseconds_text(double milliseconds) {
  std::array<char, 64> text{};
  const auto size = std::snprintf(text.data(), text.size(), "%.3f", milliseconds);
  return {text.data(), static_cast<std::size_t>(size)};
}

void add_lines(std::vector<Row>& lines, std::span<const SqlPlanStep> steps, std::int64_t parent, std::size_t depth) {
  for (const auto& step : steps) {
    if (step.parent != parent) continue;
    lines.push_back({std::string(6 * depth + 2, ' ') + "->  " + step.detail});
    add_lines(lines, steps, step.id, depth + 1);
  }
}

nlohmann::ordered_json plans_below(std::span<const SqlPlanStep> steps, std::int64_t parent) {
  auto plans = nlohmann::ordered_json::array();
  for (const auto& step : steps) {
    if (step.parent != parent) continue;
    nlohmann::ordered_json plan{{"Node Type", step.detail}};
    if (auto below = plans_below(steps, step.id); !below.empty()) plan["Plans"] = std::move(below);
    plans.push_back(std::move(plan));
  }
  return plans;
}

std::string json_plan(const ExplainedQuery& explained, std::span<const SqlPlanStep> steps,
                      const std::optional<SqlPlanRun>& run) {
  nlohmann::ordered_json root{{"Node Type", root_of(explained)}};
  if (run) root["Actual Rows"] = run->rows;
  if (auto plans = plans_below(steps, 0); !plans.empty()) root["Plans"] = std::move(plans);
  nlohmann::ordered_json answer{{"Plan", std::move(root)}};
  if (run) answer["Execution Time"] = run->milliseconds;
  return nlohmann::ordered_json::array({std::move(answer)})
      .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::optional<ExplainedQuery> parse_explained_query(std::string_view statement) {
  return ExplainReader(statement).read();
}

std::vector<Column> plan_columns(const ExplainedQuery& explained) {
  Column column{"QUERY PLAN", ColumnType::Text};
  if (explained.json) column.declared_type = "json";
  return {std::move(column)};
}

Result plan_result(const ExplainedQuery& explained, std::span<const SqlPlanStep> steps,
                   const std::optional<SqlPlanRun>& run) {
  std::vector<Row> rows;
  if (explained.json) {
    rows.push_back({json_plan(explained, steps, run)});
  } else {
    auto root = std::string(root_of(explained));
    if (run) root += " (actual rows=" + std::to_string(run->rows) + ")";
    rows.push_back({std::move(root)});
    add_lines(rows, steps, 0, 0);
    if (run) rows.push_back({"Execution Time: " + milliseconds_text(run->milliseconds) + " ms"});
  }
  return listed_result(plan_columns(explained), std::move(rows));
}

}  // namespace eindb
