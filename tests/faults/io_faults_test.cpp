#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "storage/files/file_identity.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/tiles/database_file.hpp"
#include "tests/faults/layer/fault_layer.hpp"
#include "tests/faults/trial_database.hpp"
#include "tests/storage/scratch_directory.hpp"
#include "tests/trial_counts.hpp"

namespace eindb::faults {
namespace {

namespace fs = std::filesystem;
using testing::count_trials;
using testing::number_from_environment;

/// The number of places per sweep, evenly spread: EINDB_FAULTS_PLACES, or all with EINDB_FAULTS=all. The default is
/// lower for clusters, whose sessions start slowly.
std::int64_t most_trials(Place place) {
  if (takes_all()) return INT64_MAX;
  return static_cast<std::int64_t>(number_from_environment("EINDB_FAULTS_PLACES", place == Place::Cluster ? 3 : 8));
}

/// A kind of failure, at any place.
struct Failing {
  std::string name;
  Fault fault;
};

std::vector<Failing> ways() {
  // Files that cannot be unlinked stay, and locks that fail are waited for.
  const auto most = kAllOperations & ~bit(Operation::Lock) & ~bit(Operation::Unlink);
  const auto writes = bit(Operation::Write) | bit(Operation::Truncate);
  return {
      {"error", {}},
      {"broken", {.count = Fault::kForEver, .operations = most}},
      {"full", {.count = Fault::kForEver, .operations = writes, .error = ENOSPC}},
      {"unreadable",
       {.count = Fault::kForEver,
        .operations = bit(Operation::Map),
        .path_part = ".db$",
        .error = EIO,
        .maps_unreadably = true}},
      {"torn", {.count = 2, .operations = bit(Operation::Write), .error = EIO, .kept_bytes = 512 * 3}},
  };
}

/// One database, copied for each trial.
class Sweep {
 public:
  Sweep(Place place, const TrialStatement& statement)
      : place_(place),
        statement_(statement),
        directory_(scratch_.file("database")),
        prepared_(scratch_.file("prepared")) {
    fs::create_directory(prepared_);
    make_trial_database(prepared_, place_);
    states_.push_back(with_fresh_copy([](TrialDatabase&) {}));
    const auto steps = statement.steps.empty() ? std::vector{statement.text} : statement.steps;
    for (std::size_t n = 1; n <= steps.size(); ++n) {
      states_.push_back(with_fresh_copy([&](TrialDatabase& database) {
        for (std::size_t step = 0; step < n; ++step) database.run(steps[step]);
      }));
    }
  }

  /// Tries the fault at every place, or at a sample.
  void run(const Failing& failing, bool also_opening) {
    const auto places = count_places(failing, also_opening);
    const auto stride = std::max<std::int64_t>(1, places / most_trials(place_));
    for (std::int64_t n = 1 + places % stride; n <= places; n += stride) {
      auto fault = failing.fault;
      fault.first = n;
      const bool is_well = try_fault(failing.name, fault, also_opening);
      // There may be fewer operations than in other runs.
      const bool is_tried = report_.failed > 0 || !is_well;
      count_trials("io_faults_" + to_string(place_), is_tried ? 1 : 0, is_well ? 0 : 1);
    }
  }

 private:
  std::string with_fresh_copy(const std::function<void(TrialDatabase&)>& action) {
    copy();
    TrialDatabase database(directory_, place_);
    action(database);
    return database.state();
  }

  void copy() {
    fs::remove_all(directory_);
    fs::copy(prepared_, directory_, fs::copy_options::recursive);
    if (place_ == Place::Cluster) become_the_database();
  }

  /// Workers refuse a copy of the file that they serve; their own files are copies as well.
  void become_the_database() {
    const auto path = directory_ + "/my.db";
    DatabaseFile file(path);
    ShardLog(file.connection()).write_file_identity(file_identity_of(path));
  }

  std::int64_t count_places(const Failing& failing, bool also_opening) {
    auto fault = failing.fault;
    fault.first = INT64_MAX;
    copy();
    watch(directory_);
    if (also_opening) arm(fault);
    TrialDatabase database(directory_, place_);
    if (!also_opening) arm(fault);
    database.run(statement_.text);
    return disarm().seen;
  }

  /// Returns whether the trial succeeded.
  bool try_fault(const std::string& name, const Fault& fault, bool also_opening) {
    copy();
    watch(directory_);
    place_of_fault_ = to_string(place_) + ", " + statement_.name + ", " + name + " at " + std::to_string(fault.first);
    complaints_.clear();
    report_ = {};
    try {
      std::optional<TrialDatabase> database;
      const auto error = attempt(database, fault, also_opening);
      if (error) check_error(*error);
      // Each worker's map fails once more when it is read, even after the fault is disarmed.
      if (fault.maps_unreadably && place_ == Place::Cluster) database.reset();
      if (!database) database.emplace(directory_, place_);
      go_on(*database, error.has_value());
      database->close();
      // Workers learn what they missed when they return.
      TrialDatabase again(directory_, place_ == Place::Cluster ? Place::Shards : place_);
      if (again.state() != states_.back()) complain("opened again it has another state");
      again.close();
      complain(inconsistencies(directory_, place_));
    } catch (const std::exception& error) {
      complain(std::string("afterwards: ") + error.what());
    }
    disarm();
    return complaints_.empty();
  }

  std::optional<Error> attempt(std::optional<TrialDatabase>& database, const Fault& fault, bool also_opening) {
    std::optional<Error> error;
    if (!also_opening) database.emplace(directory_, place_);
    arm(fault);
    try {
      if (also_opening) database.emplace(directory_, place_);
      database->run(statement_.text);
    } catch (const Error& thrown) {
      error = thrown;
    }
    report_ = disarm();
    place_of_fault_ +=
        " (" + to_string(report_.operation) + " of " + report_.path + ", " + std::strerror(report_.error) + ")";
    if (error)
      place_of_fault_ += " which said \"" + std::string(describe(error->kind())) + ": " + error->message() + "\"";
    if (database && database->session().in_transaction()) database->session().execute("ROLLBACK");
    return error;
  }

  void check_error(const Error& error) {
    const auto kind = error.kind();
    // SQLite treats a failed lock as one held by others; in a transaction that has read, that is a conflict.
    const bool conflicts = kind == ErrorKind::Conflict && report_.operation == Operation::Lock;
    if (kind != ErrorKind::Io && kind != ErrorKind::Busy && kind != ErrorKind::ReadOnly && !conflicts)
      complain("not that kind");
    if (error.message().find(directory_) == std::string::npos) complain("no path is named");
    if (kind == ErrorKind::Io && !gives_reason(error.message())) complain("no reason is named");
  }

  // If SQLite cannot open a file, it tries to open it read-only, and loses the original reason.
  bool gives_reason(const std::string& message) const {
    if (report_.operation == Operation::Open && report_.path.find(".db") != std::string::npos) return true;
    if (report_.failed > 1 && message.find(std::strerror(EIO)) != std::string::npos) return true;
    if (report_.error == ENOSPC && message.find("disk is full") != std::string::npos) return true;
    return message.find(std::strerror(report_.error)) != std::string::npos;
  }

  /// The session, or a new one, has the old or the new state, and reaches the new one.
  void go_on(TrialDatabase& database, bool failed) {
    const auto now = database.state();
    const auto known = std::find(states_.begin(), states_.end(), now);
    if (known == states_.end()) return complain("neither the old state nor the new one:\n" + now);
    if (!failed && now != states_.back()) return complain("it succeeded, but the state is not the new one");
    if (now == states_.back()) return;
    database.run(statement_.text);
    if (database.state() != states_.back()) complain("the second run has another result");
  }

  void complain(const std::string& what) {
    if (what.empty()) return;
    complaints_ += what;
    ADD_FAILURE() << place_of_fault_ << ": " << what;
  }

  const Place place_;
  const TrialStatement& statement_;
  ScratchDirectory scratch_;
  const std::string directory_;
  const std::string prepared_;
  std::vector<std::string> states_;  // the old state, those committed on the way, the new state
  FaultReport report_;
  std::string place_of_fault_;
  std::string complaints_;
};

class IoFaults : public ::testing::TestWithParam<std::size_t> {
 protected:
  void sweep(Place place) { sweep(place, trial_statements().at(GetParam())); }

  void sweep(Place place, const TrialStatement& statement) {
    Sweep sweep(place, statement);
    for (const auto& failing : ways()) sweep.run(failing, false);
    if (place != Place::Cluster) sweep.run(ways().front(), true);
  }
};

TEST_P(IoFaults, InTheFile) { sweep(Place::File); }
TEST_P(IoFaults, AtShards) { sweep(Place::Shards); }
TEST_P(IoFaults, InACluster) { sweep(Place::Cluster); }

INSTANTIATE_TEST_SUITE_P(Statements, IoFaults, ::testing::Range<std::size_t>(0, trial_statements().size()),
                         [](const auto& parameter) { return trial_statements().at(parameter.param).name; });

class IoFaultsOfFiles : public IoFaults {};

TEST_P(IoFaultsOfFiles, Fail) { sweep(Place::File, trial_statements_of_files().at(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Statements, IoFaultsOfFiles,
                         ::testing::Range<std::size_t>(0, trial_statements_of_files().size()),
                         [](const auto& parameter) { return trial_statements_of_files().at(parameter.param).name; });

}  // namespace
}  // namespace eindb::faults
