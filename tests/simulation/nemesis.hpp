#pragma once

#include <cstddef>
#include <map>
#include <thread>

#include "tests/simulation/simulated_cluster.hpp"

namespace eindb::simulation {

/// Cuts, slows and thins out links, kills workers and the coordinator, and restarts workers, determined by the seed.
class Nemesis {
 public:
  explicit Nemesis(SimulatedCluster& cluster);
  Nemesis(const Nemesis&) = delete;
  Nemesis& operator=(const Nemesis&) = delete;
  ~Nemesis() { end(); }

  /// A statement begins; the nemesis may act while it runs.
  void note_statement();
  void resume() { rests_ = false; }
  /// Repairs all links and workers, and does no harm until resume().
  void rest();
  /// Ends the nemesis, and repairs all links and workers.
  void end();
  int faults() const { return faults_; }
  /// The time of the last request to cancel the session's statement; kNever if there was none since note_statement().
  Time cancelled() const { return cancelled_; }

 private:
  void run();
  void pause();
  void harm();
  void harm_link();
  void harm_worker();
  void start_due_workers();
  void mend_links();

  SimulatedCluster& cluster_;
  const Time longest_pause_;
  bool ends_ = false;
  bool rests_ = false;
  bool has_statement_ = false;
  int faults_ = 0;
  Time cancelled_ = kNever;
  std::map<std::size_t, Time> down_;  // time until which each worker is down
  std::thread thread_;
};

}  // namespace eindb::simulation
