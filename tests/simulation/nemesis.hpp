#pragma once

#include <cstddef>
#include <map>
#include <thread>

#include "tests/simulation/simulated_cluster.hpp"

namespace eindb::simulation {

/// Cuts, slows and thins out links, kills workers and the coordinator, and starts workers again, by the seed.
class Nemesis {
 public:
  explicit Nemesis(SimulatedCluster& cluster);
  Nemesis(const Nemesis&) = delete;
  Nemesis& operator=(const Nemesis&) = delete;
  ~Nemesis() { end(); }

  /// A statement begins: something may happen while it runs.
  void note_statement();
  void resume() { rests_ = false; }
  /// Makes all links and workers well, and harms nothing until resume().
  void rest();
  /// Ends, and makes all links and workers well.
  void end();
  int faults() const { return faults_; }
  /// When a request to cancel the session's statement was made last; kNever: none was since note_statement().
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
  std::map<std::size_t, Time> down_;  // until when each is
  std::thread thread_;
};

}  // namespace eindb::simulation
