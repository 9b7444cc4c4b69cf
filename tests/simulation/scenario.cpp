#include "tests/simulation/scenario.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>

#include "common/error.hpp"
#include "tests/simulation/files_check.hpp"
#include "tests/simulation/nemesis.hpp"
#include "tests/simulation/simulated_cluster.hpp"
#include "tests/simulation/statements.hpp"

namespace eindb::simulation {
namespace {

// No statement takes longer; docs/cluster.md describes its waits.
constexpr Time kLongestStatement = 90 * kSecond;
// The longest time from a cancel request to the end of the statement.
constexpr Time kLongestCancel = 2 * kSecond + 100 * kMillisecond;
// The longest recovery after all links and workers are repaired: a pair of nodes between which nothing arrived is left
// alone for 60 seconds, and looked at every 5 (cluster/broken_pairs).
constexpr Time kLongestRecovery = 75 * kSecond;
constexpr Time kTimeToNotice = 5 * kSecond;
constexpr Time kTimeToSettle = 10 * kSecond;
constexpr int kReadsWhileHarmed = 5;
constexpr int kMostReads = 80;  // one a second, with the longest recovery among them

struct Complaint {
  std::string text;
};

double in_seconds_of(Time time) { return static_cast<double>(time) / kSecond; }

class Client {
 public:
  Client(const std::filesystem::path& folder, bool prints)
      : prints_(prints), side_(3 + draw_below(5)), cluster_(folder, 2 + draw_below(3)) {}

  Outcome run() {
    try {
      live();
    } catch (const Complaint& complaint) {
      outcome_.complaint = complaint.text;
    } catch (const std::exception& error) {
      outcome_.complaint = std::string("a statement that nothing disturbs fails: ") + error.what();
    }
    if (!outcome_.complaint.empty() && prints_)
      for (const auto& line : cluster_.log().lines()) std::fprintf(stderr, "%s\n", line.c_str());
    return outcome_;
  }

 private:
  void live() {
    cluster_.start_coordinator();
    cluster_.cluster().wait_for_workers(std::chrono::seconds(10));
    for (const auto& step : first_statements(side_, cluster_.workers())) {
      cluster_.session().execute(step.text);
      step.apply(model_);
    }
    check_all();
    {
      Nemesis nemesis(cluster_);
      nemesis_ = &nemesis;
      for (auto left = 4 + draw_below(8); left > 0; --left) act();
      nemesis.end();
      outcome_.faults = nemesis.faults();
      nemesis_ = nullptr;
    }
    restart_crashed();
    recover();
    check_all();
    compare_files();
  }

  // ---- The client's actions
  // -------------------------------------------------------------------------------------------

  void act() {
    if (draw_once_in(2)) sleep_until(now() + static_cast<Time>(draw_below(2 * kSecond)));
    restart_crashed();
    if (draw_once_in(3)) read_something();
    else change_something();
  }

  enum class Answer : std::uint8_t { Done, Refused, Unknown };

  template <class F>
  Answer attempt(const std::string& text, F f) {
    ++outcome_.statements;
    const auto begin = now();
    const auto number = ++statement_;
    note(text);
    at(begin + kLongestStatement, [this, number, text] {
      if (statement_ == number) stand_still("a statement takes too long: " + text + "\n" + describe_threads());
    });
    if (nemesis_ != nullptr) nemesis_->note_statement();
    std::optional<std::string> error;
    try {
      f();
    } catch (const Error& e) {
      error = e.message() + (e.hint().empty() ? "" : " (" + e.hint() + ")");
    }
    ++statement_;
    const auto end = now();
    if (in_seconds_of(end - begin) > outcome_.longest) {
      outcome_.longest = in_seconds_of(end - begin);
      outcome_.longest_statement = text;
    }
    if (nemesis_ != nullptr && nemesis_->cancelled() != kNever &&
        end - std::max(begin, nemesis_->cancelled()) > kLongestCancel)
      throw Complaint{"a cancelled statement went on for " +
                      std::to_string(in_seconds_of(end - nemesis_->cancelled())) + " s: " + text};
    const bool is_unknown = cluster_.has_coordinator_crashed();
    note(is_unknown ? "  nobody knows" : error ? "  refused: " + *error : "  done");
    if (is_unknown) ++outcome_.unknown;
    else if (error) ++outcome_.refused;
    if (error && error->find("internal error") != std::string::npos) throw Complaint{text + ": " + *error};
    return is_unknown ? Answer::Unknown : error ? Answer::Refused : Answer::Done;
  }

  void change_something() {
    const auto action = choose_action(model_, side_, cluster_.workers());
    const auto answer = attempt(action.text(), [&] { execute(action); });
    auto after = action.after(model_);
    if (answer == Answer::Done) model_ = std::move(after);
    else if (answer == Answer::Unknown) find_out(after);
    if (answer != Answer::Unknown && draw_once_in(2)) read_something();
  }

  void execute(const Action& action) {
    auto& session = cluster_.session();
    if (!action.is_transaction) return run_to_end(action.steps.front().text);
    try {
      run_to_end("BEGIN");
      for (const auto& step : action.steps) run_to_end(step.text);
      run_to_end(action.commits ? "COMMIT" : "ROLLBACK");
    } catch (const Error&) {
      if (session.in_transaction()) run_to_end("ROLLBACK");
      throw;
    }
  }

  void run_to_end(const std::string& text) {
    auto result = cluster_.session().execute(text);
    if (result.rows == nullptr) return;
    for (Row row; result.rows->next(row);) {
    }
  }

  void read_something() {
    if (model_.empty() || cluster_.has_coordinator_crashed()) return;
    const auto at = std::next(model_.begin(), static_cast<std::ptrdiff_t>(draw_below(model_.size())));
    const auto name = at->first;
    std::optional<Matrix> found;
    if (attempt("read " + name, [&] { found = read(name); }) == Answer::Done && found && *found != at->second)
      throw Complaint{"a query gives something else than was stored: " + difference(name, *found, at->second)};
  }

  Matrix read(const std::string& name) {
    if (name == kTable) return read_table();
    auto out = matrix_of(side_, [](auto, auto) { return 0; });
    auto result = cluster_.session().execute("EINSUM Z[i,j] = " + name + "[i,j]");
    for (Row row; result.rows->next(row);)
      out.at(static_cast<std::size_t>(std::get<std::int64_t>(row[0])),
             static_cast<std::size_t>(std::get<std::int64_t>(row[1]))) = std::get<double>(row[2]);
    return out;
  }

  Matrix read_table() {
    auto result = cluster_.session().execute("SELECT n FROM t");
    Row row;
    if (!result.rows->next(row)) throw Complaint{"the row of a table is gone"};
    return {1, {static_cast<double>(std::get<std::int64_t>(row[0]))}};
  }

  Model read_all() {
    Model out{{kTable, read_table()}};
    for (const auto& name : cluster_.session().tensor_names()) out[name] = read(name);
    return out;
  }

  static std::string difference(const std::string& name, const Matrix& found, const Matrix& wanted) {
    std::ostringstream out;
    out << name << "\n";
    for (std::size_t n = 0; n < wanted.cells.size(); ++n)
      if (found.cells[n] != wanted.cells[n])
        out << "  [" << n / wanted.side << "," << n % wanted.side << "] is " << found.cells[n] << ", not "
            << wanted.cells[n] << "\n";
    return out.str();
  }

  static std::string difference(const Model& found, const Model& wanted) {
    std::string out;
    for (const auto& [name, matrix] : wanted)
      if (const auto at = found.find(name); at == found.end()) out += name + " is not there\n";
      else if (at->second != matrix) out += difference(name, at->second, matrix);
    for (const auto& [name, matrix] : found)
      if (!wanted.contains(name)) out += name + " is there\n";
    return out;
  }

  // ---- After the coordinator's crash --------------------------------------------------------------------------------

  void restart_crashed() {
    if (!cluster_.has_coordinator_crashed()) return;
    cluster_.bury_coordinator();
    sleep_until(now() + static_cast<Time>(draw_below(3 * kSecond)));
    cluster_.start_coordinator();
    note("the coordinator is there again");
  }

  // A statement without an answer is done or not done; this can be read once the workers are back.
  void find_out(const Model& after) {
    for (int n = 0; n < kMostReads; ++n) {
      restart_crashed();
      Model found;
      if (attempt("read all", [&] { found = read_all(); }) == Answer::Done) {
        if (found != model_ && found != after)
          throw Complaint{"what the coordinator's crash has left is neither old nor new\nunlike the old state: " +
                          difference(found, model_) + "unlike the new one: " + difference(found, after)};
        note(found == after ? "  it is done" : "  it is not done");
        model_ = found;
        nemesis_->resume();
        return;
      }
      if (n == kReadsWhileHarmed) nemesis_->rest();
      sleep_until(now() + kSecond);
    }
    throw Complaint{"tensors cannot be read for a long time after all is well again and the coordinator is back"};
  }

  // ---- The end ------------------------------------------------------------------------------------------------------

  // A worker that returned unnoticed is first considered lost.
  void recover() {
    sleep_until(now() + kTimeToNotice);
    const auto end = now() + kLongestRecovery;
    for (;;) {
      std::string reasons;
      for (const auto& worker : cluster_.cluster().workers())
        if (worker.state != WorkerState::Up || !worker.reason.empty())
          reasons += worker.address + " " + std::string(name_of(worker.state)) + ": " + worker.reason + "\n";
      if (reasons.empty()) return;
      if (now() > end) throw Complaint{"the cluster does not recover:\n" + reasons};
      sleep_until(now() + 100 * kMillisecond);
    }
  }

  void check_all() {
    if (const auto found = read_all(); found != model_) throw Complaint{"wrong state: " + difference(found, model_)};
  }

  void compare_files() {
    sleep_until(now() + kTimeToSettle);
    run_to_end("CREATE TABLE settled (a)");
    sleep_until(now() + kTimeToSettle);
    std::vector<std::string> workers;
    for (std::size_t n = 0; n < cluster_.workers(); ++n) workers.push_back(cluster_.path_of_worker(n) + "/shard.db");
    cluster_.stop_coordinator();
    cluster_.stop_workers();
    if (const auto wrong = inconsistencies(cluster_.path_of_database(), workers); !wrong.empty())
      throw Complaint{"files: " + wrong};
  }

  void note(const std::string& what) { cluster_.log().write(NodeLog::Level::Info, "client", "", what); }

  const bool prints_;
  const std::size_t side_;
  SimulatedCluster cluster_;
  Nemesis* nemesis_ = nullptr;
  Model model_;
  Outcome outcome_;
  std::int64_t statement_ = 0;
};

}  // namespace

Outcome run_scenario(const std::filesystem::path& folder, bool prints) {
  set_socket_buffer(std::size_t{1} << (10U + draw_below(8)));
  return Client(folder, prints).run();
}

}  // namespace eindb::simulation
