#pragma once

#include <cstddef>
#include <string>

namespace eindb::testing {

/// Counts trials of some kind. At the end of the program each kind is a line "reliability KIND tries=N failed=M".
void count_trials(const std::string& kind, std::size_t tries, std::size_t failed);

/// Counts one trial; it has failed if an expectation of the test fails while it lives.
class Trial {
 public:
  explicit Trial(std::string kind);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// The trial does not count.
  void leave_out() { counts_ = false; }

 private:
  std::string kind_;
  int parts_before_;  // of the test's result
  bool counts_ = true;
};

/// A number from the environment variable, or the default `without`.
std::size_t number_from_environment(const char* name, std::size_t without);

}  // namespace eindb::testing
