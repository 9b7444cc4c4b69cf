#include "engine/plans/worker_choices.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "cluster/broken_pairs.hpp"
#include "common/check.hpp"

namespace eindb {
namespace {

std::string state_of(const WorkerStatus& worker) {
  return worker.address + " is " + std::string(name_of(worker.state)) +
         (worker.reason.empty() ? "" : " (" + worker.reason + ")");
}

// All workers, for clusters whose coordinator is a rank. All of them must be up.
Workers all_workers_up(const Cluster& cluster) {
  auto workers = cluster.workers();
  for (const auto& worker : workers)
    if (worker.state != WorkerState::Up)
      throw Error(ErrorKind::WorkerLost, "statements need all ranks, and " + state_of(worker), std::nullopt,
                  "SHOW WORKERS tells more; after SET workers = 0 statements run here");
  return workers;
}

// The workers that are up. Error{WorkerLost} if there are none.
Workers workers_up(const Cluster& cluster) {
  auto workers = cluster.workers();
  const auto is_up = [](const WorkerStatus& worker) { return worker.state == WorkerState::Up; };
  if (std::none_of(workers.begin(), workers.end(), is_up)) {
    std::string states;
    for (const auto& worker : workers) states += (states.empty() ? "" : ", ") + state_of(worker);
    throw Error(ErrorKind::WorkerLost, "no worker of the cluster is up: " + states, std::nullopt,
                "SHOW WORKERS tells more; after SET workers = 0 statements run here");
  }
  std::erase_if(workers, std::not_fn(is_up));
  return workers;
}

// The sets of workers that can run a statement together, the largest first. No two workers of a set have a broken
// connection, and each exchanges data with the coordinator.
std::vector<Workers> that_reach_each_other(Workers reached, const std::vector<BrokenPair>& broken) {
  const auto number_of = [](const Workers& workers, DataId data) {
    return static_cast<std::size_t>(
        std::find_if(workers.begin(), workers.end(), [&](const auto& worker) { return worker.data == data; }) -
        workers.begin());
  };
  for (const auto& pair : broken)
    if (pair.one == DataId{}) std::erase_if(reached, [&](const auto& worker) { return worker.data == pair.other; });
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const auto& pair : broken) {
    const auto one = number_of(reached, pair.one);
    const auto other = number_of(reached, pair.other);
    if (one < reached.size() && other < reached.size()) pairs.emplace_back(one, other);
  }
  std::vector<Workers> choices;
  if (pairs.empty()) {
    if (!reached.empty()) choices.push_back(std::move(reached));
    return choices;
  }
  for (const auto& left_out : ways_without_pairs(reached.size(), pairs)) {
    DCHECK(std::is_sorted(left_out.begin(), left_out.end()), "who is left out is listed in order");
    auto& choice = choices.emplace_back();
    for (std::size_t n = 0; n < reached.size(); ++n)
      if (!std::binary_search(left_out.begin(), left_out.end(), n)) choice.push_back(reached[n]);
  }
  return choices;
}

}  // namespace

std::vector<Workers> choices_of_workers(const Cluster& cluster) {
  if (!cluster.coordinator_computes()) return that_reach_each_other(workers_up(cluster), cluster.broken_pairs());
  std::vector<Workers> only;
  only.push_back(all_workers_up(cluster));
  return only;
}

Workers imagined_workers(std::size_t count) {
  Workers workers(count);
  for (std::size_t n = 0; n < workers.size(); ++n) workers[n].address = "worker " + std::to_string(n);
  return workers;
}

Error not_reached(const Cluster& cluster, const std::string& message) {
  std::string pairs;
  for (const auto& worker : cluster.workers())
    if (worker.state == WorkerState::Up && !worker.reason.empty()) pairs += "; " + state_of(worker);
  return {ErrorKind::WorkerLost, message + pairs, std::nullopt,
          "mend the way between them: name workers in --workers by addresses at which they reach each other, and open "
          "their ports between them; after SET workers = 0 statements run here, and fetch what they read"};
}

}  // namespace eindb
