// Runs scenarios of a simulated cluster, each seed in a process of its own.
//
//     eindb_simulation [--seeds N] [--first SEED] [--jobs N] [--twice N]
//     eindb_simulation --seed SEED [--trace] [--keep FOLDER]
#include <malloc.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/simulation/scenario.hpp"
#include "tests/simulation/virtual_threads.hpp"

namespace eindb::simulation {
namespace {

struct Options {
  std::uint64_t first = 1;
  std::uint64_t seeds = 20;
  unsigned jobs = 2;
  std::uint64_t twice = 0;  // this many of the first seeds run twice, with equal outcomes
  bool is_single = false;
  int pipe = -1;        // for a process of one seed: the destination of its report
  bool logs = false;    // print the nodes' log for a failing seed
  bool prints = false;  // print the trace
  std::string folder;
};

// The report of a process for a seed.
struct Report {
  std::uint64_t seed = 0;
  std::uint64_t hash = 0;
  double longest = 0;
  int statements = 0;
  int refused = 0;
  int unknown = 0;
  int faults = 0;
  double seconds = 0;  // virtual
  std::string complaint = {};
};

// In seconds. A scenario takes at most a few seconds on a busy machine; one that takes this long does not end.
constexpr unsigned kPatience = 120;

[[noreturn]] void finish(int pipe, const Report& report) {
  std::ostringstream out;
  out << report.seed << " " << report.hash << " " << report.longest << " " << report.statements << " " << report.refused
      << " " << report.unknown << " " << report.faults << " " << report.seconds << "\n"
      << report.complaint;
  const auto text = out.str();
  std::size_t done = 0;
  while (done < text.size()) {
    const auto count = ::write(pipe, text.data() + done, text.size() - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  ::_exit(0);
}

Report parse(const std::string& text) {
  Report report;
  std::istringstream in(text);
  in >> report.seed >> report.hash >> report.longest >> report.statements >> report.refused >> report.unknown >>
      report.faults >> report.seconds;
  in.ignore();
  std::ostringstream rest;
  rest << in.rdbuf();
  report.complaint = rest.str();
  return report;
}

// Uses one processor, since one thread runs at a time.
void take_one_processor(std::uint64_t seed) {
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return;
  auto chosen = seed % static_cast<std::uint64_t>(CPU_COUNT(&all));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int n = 0; n < CPU_SETSIZE; ++n)
    if (CPU_ISSET(n, &all) && chosen-- == 0) CPU_SET(n, &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

[[noreturn]] void run_seed(std::uint64_t seed, const Options& options, int pipe) {
  ::alarm(kPatience);
  ::mallopt(M_ARENA_MAX, 1);
  take_one_processor(seed);
  auto folder = (std::filesystem::temp_directory_path() / "eindb-simulation-XXXXXX").string();
  if (!options.folder.empty()) std::filesystem::create_directories(folder = options.folder);
  else if (::mkdtemp(folder.data()) == nullptr) ::_exit(2);
  if (::chdir(folder.c_str()) != 0) ::_exit(2);  // so that files have the same names in every run
  begin(seed);
  if (options.prints) print_trace();
  Report report{.seed = seed};
  const auto end = [&](const Outcome& outcome) {
    report.hash = trace_hash();
    report.longest = outcome.longest;
    report.statements = outcome.statements;
    report.refused = outcome.refused;
    report.unknown = outcome.unknown;
    report.faults = outcome.faults;
    report.seconds = static_cast<double>(now()) / kSecond;
    report.complaint = outcome.complaint;
    if (options.folder.empty()) std::filesystem::remove_all(folder);
    finish(pipe, report);
  };
  on_standstill([&](const std::string& what) {
    Outcome outcome;
    outcome.complaint = what;
    end(outcome);
  });
  end(run_scenario(".", options.logs));
  std::abort();
}

// Starts a new process for the seed, so that its memory layout is always the same; so are the numbers of its
// descriptors, whatever other seeds run beside it.
[[noreturn]] void run_anew(std::uint64_t seed, const Options& options, int pipe) {
  constexpr int kPipe = STDERR_FILENO + 1;
  if (pipe != kPipe && ::dup2(pipe, kPipe) != kPipe) ::_exit(2);
  if (::close_range(kPipe + 1, ~0U, 0) != 0) ::_exit(2);
  std::vector<std::string> words{"eindb_simulation", "--seed", std::to_string(seed), "--pipe", std::to_string(kPipe)};
  if (options.prints) words.emplace_back("--trace");
  if (options.is_single) words.emplace_back("--log");
  if (!options.folder.empty()) words.insert(words.end(), {"--keep", options.folder});
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  ::_exit(2);
}

// The process of a seed, and its report so far.
struct Child {
  std::uint64_t seed = 0;
  pid_t process = 0;
  int pipe = -1;
};

Child start(std::uint64_t seed, const Options& options) {
  int ends[2];
  if (::pipe(ends) != 0) std::exit(2);
  const auto process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    run_anew(seed, options, ends[1]);
  }
  ::close(ends[1]);
  return {seed, process, ends[0]};
}

Report end_of(const Child& child) {
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(child.pipe, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(child.pipe);
  int status = 0;
  ::waitpid(child.process, &status, 0);
  if (!text.empty()) return parse(text);
  Report report{.seed = child.seed};
  report.complaint = WIFSIGNALED(status) ? std::string("it ended by signal ") + ::strsignal(WTERMSIG(status))
                                         : "it ended with status " + std::to_string(WEXITSTATUS(status));
  return report;
}

class Campaign {
 public:
  explicit Campaign(const Options& options) : options_(options) {}

  int run() {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Child> running;
    for (std::uint64_t n = 0; n < options_.seeds + options_.twice; ++n) {
      const auto seed = options_.first + (n < options_.seeds ? n : n - options_.seeds);
      if (running.size() == options_.jobs) {
        take(end_of(running.front()));
        running.erase(running.begin());
      }
      running.push_back(start(seed, options_));
    }
    for (const auto& child : running) take(end_of(child));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf(
        "%llu seeds, %llu of them twice: %d statements, %d refused, %d not answered; %d faults; %.0f s in %.1f s; "
        "longest statement %.1f s\n",
        static_cast<unsigned long long>(options_.seeds), static_cast<unsigned long long>(options_.twice), statements_,
        refused_, unknown_, faults_, virtual_seconds_, seconds.count(), longest_);
    std::printf("reliability simulation tries=%zu failed=%zu\n", hashes_.size(), failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  void take(const Report& report) {
    statements_ += report.statements;
    refused_ += report.refused;
    unknown_ += report.unknown;
    faults_ += report.faults;
    virtual_seconds_ += report.seconds;
    longest_ = std::max(longest_, report.longest);
    const auto [place, is_first] = hashes_.emplace(report.seed, report.hash);
    if (is_first && !report.complaint.empty()) fail(report.seed, report.complaint);
    else if (place->second != report.hash)
      fail(report.seed,
           "it went another way when it was run again" + (report.complaint.empty() ? "" : ": " + report.complaint));
  }

  void fail(std::uint64_t seed, const std::string& complaint) {
    ++failed_;
    std::printf("seed %llu: %s\n  run it alone: eindb_simulation --seed %llu\n", static_cast<unsigned long long>(seed),
                complaint.c_str(), static_cast<unsigned long long>(seed));
    std::fflush(stdout);
  }

  const Options& options_;
  std::map<std::uint64_t, std::uint64_t> hashes_;
  std::size_t failed_ = 0;
  int statements_ = 0;
  int refused_ = 0;
  int unknown_ = 0;
  int faults_ = 0;
  double virtual_seconds_ = 0;
  double longest_ = 0;
};

Options parse(int count, char** arguments) {
  Options options;
  for (int n = 1; n < count; ++n) {
    const std::string name = arguments[n];
    const auto next = [&] { return n + 1 < count ? std::string(arguments[++n]) : std::string("0"); };
    if (name == "--seeds") options.seeds = std::stoull(next());
    else if (name == "--first") options.first = std::stoull(next());
    else if (name == "--jobs") options.jobs = static_cast<unsigned>(std::stoul(next()));
    else if (name == "--twice") options.twice = std::stoull(next());
    else if (name == "--trace") options.prints = true;
    else if (name == "--log") options.logs = true;
    else if (name == "--pipe") options.pipe = std::stoi(next());
    else if (name == "--keep") options.folder = next();
    else if (name == "--seed") {
      options.first = std::stoull(next());
      options.seeds = 1;
      options.is_single = true;
    } else {
      std::cerr << "unknown option " << name << "\n";
      std::exit(2);
    }
  }
  return options;
}

}  // namespace
}  // namespace eindb::simulation

int main(int count, char** arguments) {
  const auto options = eindb::simulation::parse(count, arguments);
  if (options.pipe >= 0) eindb::simulation::run_seed(options.first, options, options.pipe);
  return eindb::simulation::Campaign(options).run();
}
