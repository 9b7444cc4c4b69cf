#include "tests/runner/test_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "tests/runner/local_cluster.hpp"
#include "tests/runner/mpi_script_cluster.hpp"
#include "tests/runner/pattern.hpp"
#include "tests/storage/local_shards.hpp"

namespace eindb::runner {
namespace {

constexpr std::size_t kShownLines = 60;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string indented(const std::vector<std::string>& lines) {
  std::string out;
  for (std::size_t n = 0; n < std::min(lines.size(), kShownLines); ++n) out += "    " + lines[n] + "\n";
  if (lines.size() > kShownLines) out += "    ... " + std::to_string(lines.size()) + " lines in all\n";
  return out;
}

/// The text that a script's pattern may match: the complete message except the excerpt of the statement, which would
/// match nearly anything.
std::string error_text(const Error& error, const std::string& sql) {
  std::string text = std::string(describe(error.kind())) + ": " + error.message();
  if (error.span()) {
    const auto place = locate(sql, error.span()->begin);
    text += "\nat line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
  }
  if (!error.hint().empty()) text += "\nhint: " + error.hint();
  return text;
}

/// All lines of a result as one text, for `<REGEX>:` as the only expected line.
std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

bool is_single_regex(const std::vector<std::string>& expected) {
  return expected.size() == 1 && (expected[0].starts_with("<REGEX>:") || expected[0].starts_with("<!REGEX>:"));
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  auto name = (std::filesystem::temp_directory_path() / "eindb-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made: " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

TestRun::TestRun(TestScript script, RunOptions options) : script_(std::move(script)), options_(std::move(options)) {}

void TestRun::run() {
  open(":memory:");
  for (const auto& record : script_.records) {
    if (applies(record)) run_record(record);
  }
  session_.reset();
  if (options_.generate) write_back();
}

bool TestRun::applies(const Record& record) const {
  const auto is_on = [&](const std::string& mode) { return options_.modes.contains(mode); };
  return std::all_of(record.only_if.begin(), record.only_if.end(), is_on) &&
         std::none_of(record.skip_if.begin(), record.skip_if.end(), is_on);
}

void TestRun::run_record(const Record& record) {
  try {
    std::visit([&](const auto& action) { execute(record, action); }, record.action);
  } catch (const PatternError& error) {
    fail(record, "", std::string("the pattern is no regular expression: ") + error.what() + "\n");
  }
}

void TestRun::execute(const Record& record, const StatementCase& statement) {
  ++cases_;
  const auto sql = substituted(statement.sql);
  std::optional<Session> elsewhere;
  try {
    if (!statement.elsewhere.empty()) elsewhere.emplace((folder_.path() / statement.elsewhere).string());
    auto result = (elsewhere ? *elsewhere : *session_).execute(sql);
    QueryResult::read(result, SortMode::None);  // an error may occur only in a late row
  } catch (const Error& error) {
    return check_error(record, statement, error);
  }
  if (statement.fails) fail(record, statement.sql, "the statement is ok, but should fail\n");
}

void TestRun::check_error(const Record& record, const StatementCase& statement, const Error& error) {
  const auto sql = substituted(statement.sql);
  if (!statement.fails) return fail(record, statement.sql, "the statement failed:\n" + render(error, sql) + "\n");
  if (error.kind() == ErrorKind::Internal && statement.pattern.find("internal") == std::string::npos) {
    return fail(record, statement.sql, "the statement failed by a bug:\n" + render(error, sql) + "\n");
  }
  const auto text = error_text(error, sql);
  if (!Pattern(statement.pattern, Pattern::Case::Ignored).matches_in(text)) {
    fail(record, statement.sql, "the message has no match of /" + statement.pattern + "/:\n" + text + "\n");
  } else if (text.find(statement.text) == std::string::npos) {
    fail(record, statement.sql, "the message does not contain the expected text:\n" + text + "\n");
  }
}

void TestRun::execute(const Record& record, const QueryCase& query) {
  ++cases_;
  const auto sql = substituted(query.sql);
  try {
    auto result = session_->execute(sql);
    check_result(record, query, QueryResult::read(result, query.sort));
  } catch (const Error& error) {
    fail(record, query.sql, "the query failed:\n" + render(error, sql) + "\n");
  }
}

void TestRun::check_result(const Record& record, const QueryCase& query, const QueryResult& actual) {
  if (options_.generate) return replace_expected(query, actual);
  if (query.expected) check_expected(record, query, actual);
  if (!query.label.empty()) check_label(record, query, actual);
}

void TestRun::check_expected(const Record& record, const QueryCase& query, const QueryResult& actual) {
  const auto& expected = *query.expected;
  std::optional<std::string> difference;
  if (is_single_regex(expected) && query.types.size() == 1) {
    if (!value_fits(joined(actual.lines()), expected[0], false, {})) difference = "the result does not fit the pattern";
  } else if (expected.size() == 1 && expected[0].find(" values hashing to ") != std::string::npos) {
    if (actual.hash() != expected[0]) difference = "the hash is " + actual.hash();
  } else {
    difference = actual.difference(QueryResult::parse(expected, query.types.size(), query.sort), query);
  }
  if (!difference) return;
  fail(record, query.sql,
       *difference + "\n  expected:\n" + indented(expected) + "  actual:\n" + indented(actual.lines()));
}

void TestRun::check_label(const Record& record, const QueryCase& query, const QueryResult& actual) {
  const auto [first, is_first] = labelled_.try_emplace(query.label, actual);
  if (is_first && !query.expected) {
    return fail(record, query.sql, "the first query of the label '" + query.label + "' needs its expected result\n");
  }
  const auto difference = actual.difference(first->second, query);
  if (!difference) return;
  fail(record, query.sql,
       *difference + "\n  the first result of the label '" + query.label + "':\n" + indented(first->second.lines()) +
           "  this result:\n" + indented(actual.lines()));
}

void TestRun::replace_expected(const QueryCase& query, const QueryResult& actual) {
  if (!query.expected || is_single_regex(*query.expected)) return;
  const bool as_hash = query.hash_threshold > 0 && actual.value_count() > query.hash_threshold;
  edits_.push_back({.begin = query.expected_begin,
                    .end = query.expected_begin + query.expected->size(),
                    .lines = as_hash ? std::vector{actual.hash()} : actual.lines()});
}

void TestRun::write_back() {
  for (auto edit = edits_.rbegin(); edit != edits_.rend(); ++edit) {
    const auto begin = script_.lines.begin();
    const auto at = script_.lines.erase(begin + static_cast<std::ptrdiff_t>(edit->begin),
                                        begin + static_cast<std::ptrdiff_t>(edit->end));
    script_.lines.insert(at, edit->lines.begin(), edit->lines.end());
  }
  std::ofstream file(script_.path);
  for (const auto& line : script_.lines) file << line << '\n';
}

void TestRun::execute(const Record& /*record*/, const OpenFile& /*directive*/) {
  open((folder_.path() / "test.db").string());
}

void TestRun::execute(const Record& record, const Reopen& /*directive*/) {
  if (database_ == ":memory:") return fail(record, "reopen", "a database in memory cannot be reopened\n");
  open(database_);
}

void TestRun::open(const std::string& database) {
  session_.reset();  // closed before it is opened again
  database_ = database;
  SessionOptions session;
  if (options_.shards > 0) session.shards = shards_of(database);
  if (options_.workers > 0 || options_.mpi != nullptr) {
    start_cluster(database);
    session.cluster = {std::shared_ptr<void>(), &cluster_->cluster()};
    if (!options_.small_here) session.small_statements = SmallStatements::Workers;
  }
  session_ = std::make_unique<Session>(database, session);
  if (cluster_ != nullptr) cluster_->wait_for_workers();
  for (const auto& prelude : options_.preludes) session_->execute(prelude);
}

// Workers of a database file keep their data when it is opened again.
std::filesystem::path TestRun::folder_of_workers(const std::string& database) {
  const bool in_memory = database == ":memory:";
  const auto name = in_memory ? "memory-" + std::to_string(++memory_databases_) : "file";
  auto folder = folder_.path() / ("workers-of-" + name);
  std::filesystem::create_directory(folder);
  return folder;
}

std::shared_ptr<ShardAccess> TestRun::shards_of(const std::string& database) {
  return std::make_shared<LocalShards>(folder_of_workers(database).string(), options_.shards);
}

void TestRun::start_cluster(const std::string& database) {
  cluster_.reset();
  const auto folder = folder_of_workers(database);
  if (options_.mpi != nullptr) cluster_ = std::make_unique<MpiScriptCluster>(*options_.mpi, folder);
  else cluster_ = std::make_unique<LocalCluster>(folder, options_.workers);
}

std::string TestRun::substituted(std::string sql) const {
  replace_all(sql, "${DIR}", std::filesystem::absolute(script_.path).parent_path().string());
  replace_all(sql, "${TMP}", folder_.path().string());
  return sql;
}

void TestRun::fail(const Record& record, const std::string& sql, const std::string& what) {
  ++failures_;
  std::string statement = "    " + sql;
  replace_all(statement, "\n", "\n    ");
  std::cout << script_.path.string() << ":" << record.line << ": " << what << "  statement:\n" << statement << "\n\n";
}

}  // namespace eindb::runner
