#include "tests/runner/test_script.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace eindb::runner {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Reads records from the lines of a file, from the top.
class Reader {
 public:
  explicit Reader(TestScript& script) : script_(script) {}

  void read() {
    while (next_ < script_.lines.size() && !halted_) read_line();
    const auto is_case = [](const Record& record) {
      return std::holds_alternative<StatementCase>(record.action) || std::holds_alternative<QueryCase>(record.action);
    };
    if (std::none_of(script_.records.begin(), script_.records.end(), is_case)) fail("the file holds no case");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(script_.path.string() + ":" + std::to_string(line_number_) + ": " + what);
  }

  void read_line() {
    line_number_ = next_ + 1;
    const auto& line = script_.lines[next_++];
    const auto words = words_of(line);
    if (words.empty() || line.front() == '#') return;
    read_directive(line, words);
  }

  void read_directive(const std::string& line, const std::vector<std::string>& words) {
    const auto& name = words.front();
    if (name == "statement") return add(read_statement(line, words));
    if (name == "elsewhere") return read_elsewhere(words);
    if (name == "query") return add(read_query(words));
    if (name == "database" || name == "reopen") return read_opening(words);
    if (name == "onlyif" || name == "skipif") return read_condition(words);
    if (name == "tolerance") return read_tolerance(words);
    if (name == "hash-threshold") return read_hash_threshold(words);
    if (name == "halt") return halt();
    fail("unknown directive '" + name + "'");
  }

  void need(bool holds, const std::string& form) const {
    if (!holds) fail("this line should read: " + form);
  }

  template <class Action>
  void add(Action action) {
    pending_.line = line_number_;
    pending_.action = std::move(action);
    script_.records.push_back(std::exchange(pending_, {}));
  }

  void read_opening(const std::vector<std::string>& words) {
    if (words[0] == "reopen") return add(Reopen{});
    need(words.size() == 2 && words[1] == "file", "database file");
    add(OpenFile{});
  }

  void read_elsewhere(const std::vector<std::string>& words) {
    need(words.size() == 2, "elsewhere FILE");
    elsewhere_ = words[1];
  }

  void read_condition(const std::vector<std::string>& words) {
    need(words.size() == 2, words[0] + " NAME");
    (words[0] == "onlyif" ? pending_.only_if : pending_.skip_if).push_back(words[1]);
  }

  /// A conditional halt would have to be decided at run time; the format has only the unconditional one.
  void halt() {
    need(pending_.only_if.empty() && pending_.skip_if.empty(), "halt, without a condition before it");
    halted_ = true;
  }

  /// Joins the lines up to a blank line or `----`.
  std::string read_sql() {
    std::string sql;
    while (next_ < script_.lines.size() && !script_.lines[next_].empty() && script_.lines[next_] != "----") {
      if (!sql.empty()) sql += '\n';
      sql += script_.lines[next_++];
    }
    if (sql.empty()) fail("the statement is missing");
    return sql;
  }

  /// The lines between `----` and a blank line; nullopt if there is no `----`.
  std::optional<std::vector<std::string>> read_block() {
    if (next_ == script_.lines.size() || script_.lines[next_] != "----") return std::nullopt;
    std::vector<std::string> block;
    for (++next_; next_ < script_.lines.size() && !script_.lines[next_].empty(); ++next_) {
      block.push_back(script_.lines[next_]);
    }
    return block;
  }

  StatementCase read_statement(const std::string& line, const std::vector<std::string>& words) {
    need(words.size() >= 2 && (words[1] == "ok" || words[1] == "error"), "statement ok, or statement error [REGEX]");
    StatementCase result{.sql = {}, .fails = words[1] == "error", .pattern = {}, .text = {}};
    result.elsewhere = std::exchange(elsewhere_, {});
    if (result.fails && words.size() > 2) result.pattern = line.substr(line.find(words[2], line.find("error") + 5));
    need(result.fails || words.size() == 2, "statement ok");
    result.sql = read_sql();
    if (const auto block = read_block()) {
      if (!result.fails) fail("a statement that is ok has no results; use query");
      for (const auto& text : *block) result.text += (result.text.empty() ? "" : "\n") + text;
    }
    return result;
  }

  QueryCase read_query(const std::vector<std::string>& words) {
    need(words.size() >= 2 && words.size() <= 4 && words[1].find_first_not_of("IRT") == std::string::npos,
         "query TYPES [nosort | rowsort | valuesort] [LABEL], with the types I, R and T");
    QueryCase result;
    result.types = words[1];
    if (words.size() > 2) result.sort = read_sort_mode(words[2]);
    if (words.size() > 3) result.label = words[3];
    result.tolerance = tolerance_;
    result.hash_threshold = hash_threshold_;
    result.sql = read_sql();
    result.expected_begin = next_ + 1;
    result.expected = read_block();
    if (!result.expected && result.label.empty()) fail("a query needs ---- and its expected result");
    return result;
  }

  SortMode read_sort_mode(const std::string& word) const {
    if (word == "nosort") return SortMode::None;
    if (word == "rowsort") return SortMode::Rows;
    if (word == "valuesort") return SortMode::Values;
    fail("unknown sort mode '" + word + "'");
  }

  void read_tolerance(const std::vector<std::string>& words) {
    need(words.size() == 2 || words.size() == 3, "tolerance RELATIVE [ABSOLUTE]");
    tolerance_.relative = read_number(words[1]);
    tolerance_.absolute = words.size() == 3 ? read_number(words[2]) : 0;
  }

  void read_hash_threshold(const std::vector<std::string>& words) {
    need(words.size() == 2, "hash-threshold N");
    hash_threshold_ = static_cast<std::size_t>(read_number(words[1]));
  }

  double read_number(const std::string& word) const {
    const auto number = parse_number(word);
    if (!number || number->real() < 0) fail("'" + word + "' is not a number of at least 0");
    return number->real();
  }

  TestScript& script_;
  std::size_t next_ = 0;  // index of the line to read next
  std::size_t line_number_ = 1;
  Record pending_;         // conditions for the next record
  std::string elsewhere_;  // the file of the next statement
  Tolerance tolerance_;
  std::size_t hash_threshold_ = 0;
  bool halted_ = false;
};

}  // namespace

TestScript read_test_script(const std::filesystem::path& path) {
  TestScript script{.path = path, .lines = {}, .records = {}};
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + ":1: the file cannot be read");
  for (std::string line; std::getline(file, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    script.lines.push_back(std::move(line));
  }
  Reader(script).read();
  return script;
}

}  // namespace eindb::runner
