#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/faults/crash_images.hpp"
#include "tests/faults/layer/fault_layer.hpp"
#include "tests/faults/trial_database.hpp"
#include "tests/storage/scratch_directory.hpp"
#include "tests/trial_counts.hpp"

namespace eindb::faults {
namespace {

namespace fs = std::filesystem;
using Loss = CrashImages::Loss;

/// Images per test in the suite, and with EINDB_FAULTS=all, where each moment has at least one with every loss.
/// EINDB_FAULTS_IMAGES is the total number.
constexpr std::size_t kSample = 100;
constexpr std::size_t kAll = 3000;
constexpr std::size_t kTests = 4;

/// The machines that lose power.
enum class Machines : std::uint8_t { All, Coordinator, Worker };

/// All trial statements in one session, recorded, with the possible states after a crash at any moment.
class PowerLoss {
 public:
  enum class Disk : std::uint8_t {
    Syncs,
    Lies,  ///< ignores syncs: data written to a file may be lost forever
  };

  /// The statements run in the database that `prepare` creates in a directory.
  PowerLoss(Place place, std::vector<TrialStatement> statements, const std::function<void(const std::string&)>& prepare,
            Disk disk = Disk::Syncs)
      : place_(place),
        prepared_(scratch_.file("prepared")),
        live_(scratch_.file("live")),
        image_(scratch_.file("image")),
        statements_(std::move(statements)) {
    fs::create_directory(prepared_);
    prepare(prepared_);
    run_steps();
    auto recording = record();
    if (disk == Disk::Lies)
      std::erase_if(recording.events, [](const auto& event) { return event.kind == FileEvent::Kind::Sync; });
    images_.emplace(std::move(recording));
  }

  /// Tries that many images, evenly spread; returns the failures, one text each.
  std::vector<std::string> run(std::size_t wanted) {
    std::vector<std::string> wrong;
    const auto moments = images_->moments();
    std::size_t tried = 0;
    for (std::size_t moment = 0; moment < moments; ++moment) {
      images_->advance_to(moment);
      if (!images_->has_changed()) continue;
      // The number of images for this part of the recording.
      for (; tried * moments < wanted * (moment + 1); ++tried)
        if (auto complaints = complaints_of_image(tried); !complaints.empty()) wrong.push_back(std::move(complaints));
    }
    return wrong;
  }

 private:
  // Runs the steps on a copy to record the states.
  void run_steps() {
    fs::copy(prepared_, live_, fs::copy_options::recursive);
    TrialDatabase database(live_, place_);
    states_.push_back(database.state());
    for (const auto& statement : statements_) {
      state_before_.push_back(states_.size() - 1);
      for (const auto& step : statement.steps.empty() ? std::vector{statement.text} : statement.steps) {
        database.run(step);
        states_.push_back(database.state());
      }
    }
    state_before_.push_back(states_.size() - 1);
  }

  Recording record() {
    fs::remove_all(live_);
    fs::copy(prepared_, live_, fs::copy_options::recursive);
    watch(live_);
    start_recording();
    TrialDatabase database(live_, place_);
    for (std::size_t n = 0; n < statements_.size(); ++n) {
      mark(static_cast<std::int64_t>(n));
      database.run(statements_[n].text);
    }
    mark(static_cast<std::int64_t>(statements_.size()));
    EXPECT_EQ(database.state(), states_.back());
    database.close();
    return take_recording();
  }

  Loss loss_of(const std::string& path, Machines machines, Loss loss) const {
    const bool at_worker = path.find("/worker-") != std::string::npos;
    if (machines == Machines::Coordinator && at_worker) return Loss::Nothing;
    if (machines == Machines::Worker && path.find("/worker-0/") == std::string::npos) return Loss::Nothing;
    return loss;
  }

  std::string complaints_of_image(std::size_t n) {
    complaints_.clear();
    constexpr Loss kLosses[] = {Loss::Some, Loss::Everything, Loss::Some, Loss::Nothing, Loss::Some};
    constexpr Machines kMachines[] = {Machines::All, Machines::Coordinator, Machines::All, Machines::Worker};
    const auto loss = kLosses[n % 5];
    const auto machines = place_ == Place::File ? Machines::All : kMachines[n / 5 % 4];
    const auto image = images_->image([&](const auto& path) { return loss_of(path, machines, loss); }, n);
    write_image(image, live_, image_);
    try {
      check(n);
    } catch (const std::exception& error) {
      complain(std::string("opening it: ") + error.what());
    }
    if (complaints_.empty()) return {};
    return to_string(place_) + ", image " + std::to_string(n) + ", after statement " +
           std::to_string(images_->last_mark()) + ": " + complaints_;
  }

  // Acknowledged statements are complete; the statement in progress is complete or absent, at each of its commits.
  void check(std::size_t n) {
    const auto done = static_cast<std::size_t>(std::max<std::int64_t>(images_->last_mark(), 0));
    const auto first = states_.begin() + static_cast<std::ptrdiff_t>(state_before_[done]);
    const auto last =
        states_.begin() + static_cast<std::ptrdiff_t>(state_before_[std::min(done + 1, state_before_.size() - 1)]);
    TrialDatabase database(image_, place_);
    const auto now = database.state();
    if (std::find(first, last + 1, now) == last + 1) complain("neither the old state nor the new one:\n" + now);
    const bool runs_again = n % 3 == 0 && first != last && now != *last;
    if (runs_again) {
      database.run(statements_[done].text);
      if (database.state() != *last) complain("the second run has another result");
    }
    database.close();
    complain(inconsistencies(image_, place_));
  }

  void complain(const std::string& what) { complaints_ += what; }

  const Place place_;
  ScratchDirectory scratch_;
  const std::string prepared_;
  const std::string live_;
  const std::string image_;
  const std::vector<TrialStatement> statements_;
  std::vector<std::string> states_;
  std::vector<std::size_t> state_before_;  // of statement n, as an index into states_
  std::optional<CrashImages> images_;
  std::string complaints_;
};

std::size_t image_count() {
  return testing::number_from_environment("EINDB_FAULTS_IMAGES", kTests * (takes_all() ? kAll : kSample)) / kTests;
}

void check_and_count(PowerLoss& losses) {
  const auto wrong = losses.run(image_count());
  for (const auto& complaints : wrong) ADD_FAILURE() << complaints;
  testing::count_trials("crash_images", image_count(), wrong.size());
}

PowerLoss with_all_statements(Place place, PowerLoss::Disk disk = PowerLoss::Disk::Syncs) {
  return {place, trial_statements(), [&](const std::string& directory) { make_trial_database(directory, place); },
          disk};
}

/// Power loss during the creation of the database and its workers' files.
PowerLoss from_nothing(Place place) {
  const std::vector<TrialStatement> statements = {
      {"table", "CREATE TABLE t (a, b)"},
      {"row", "INSERT INTO t VALUES (1, 2)"},
      {"tensor", "CREATE TENSOR A PARTITION (2, 2) AS EINSUM A[i 20, j 20] = i * j + 1"},
  };
  return {place, statements, [](const std::string&) {}};
}

TEST(PowerLoss, InTheFile) {
  auto losses = with_all_statements(Place::File);
  check_and_count(losses);
}

TEST(PowerLoss, AtShards) {
  auto losses = with_all_statements(Place::Shards);
  check_and_count(losses);
}

TEST(PowerLoss, OfANewFile) {
  auto losses = from_nothing(Place::File);
  check_and_count(losses);
}

TEST(PowerLoss, OfNewShards) {
  auto losses = from_nothing(Place::Shards);
  check_and_count(losses);
}

// Checks that these tests detect a database that does not wait for its disk.
TEST(PowerLoss, IsNoticedWhereADiskLies) {
  auto losses = with_all_statements(Place::File, PowerLoss::Disk::Lies);
  EXPECT_GT(losses.run(kSample).size(), kSample / 10);
}

}  // namespace
}  // namespace eindb::faults
