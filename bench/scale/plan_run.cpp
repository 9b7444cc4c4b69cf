#include "bench/scale/plan_run.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "common/check.hpp"
#include "optimizer/partitions/prediction.hpp"
#include "plan/tile_layout.hpp"
#include "plan/tile_moves.hpp"

namespace eindb::bench {
namespace {

// Steps with equal keys exchange equal messages. A key has the grid and placement of the step's input, then those of
// its result; where the input is a partial result, also the blocks of its computation.
using MoveKey = std::tuple<std::vector<std::int64_t>, std::vector<std::optional<TileKey>>, std::vector<std::int64_t>,
                           std::vector<std::optional<TileKey>>>;

void append(std::vector<std::int64_t>& key, const std::vector<std::int64_t>& values) {
  key.push_back(static_cast<std::int64_t>(values.size()));
  key.insert(key.end(), values.begin(), values.end());
}

// One end of a move; `list` numbers equal holder lists.
std::pair<std::vector<std::int64_t>, std::vector<std::optional<TileKey>>> end_of(const PhysicalPlan& plan, StepId step,
                                                                                 std::int64_t list) {
  const auto& made = plan.step(step);
  std::pair<std::vector<std::int64_t>, std::vector<std::optional<TileKey>>> out;
  append(out.first, made.grid.shape().extents());
  append(out.first, made.grid.partition());
  out.first.push_back(static_cast<std::int64_t>(size_of(made.dtype)));
  out.first.push_back(list);
  if (const auto* blocks = std::get_if<BlockPlacement>(&made.placement)) {
    append(out.first, blocks->parts);
    out.second = blocks->at;
  }
  if (const auto* compute = std::get_if<ComputeStep>(&made.op); compute != nullptr && compute->is_partial()) {
    append(out.first, compute->blocks);
    for (const auto label : compute->join.partition.labels)
      out.first.push_back(static_cast<std::int64_t>(label.index()));
    for (const auto label : compute->join.einsum.output) out.first.push_back(static_cast<std::int64_t>(label.index()));
    out.second = compute->at;
  }
  if (const auto* scan = std::get_if<ScanStep>(&made.op); scan != nullptr && scan->tensor.selection)
    out.first.push_back(-1 - static_cast<std::int64_t>(step.index()));  // each selection by itself
  return out;
}

std::int64_t elements_of(const TileGrid& grid, std::int64_t tile) {
  return grid.tile_shape(grid.key_of(tile)).element_count();
}

PaperStep messages_of(const PhysicalPlan& plan, StepId step, std::span<const TileHolders> lists) {
  const auto input = inputs_of(plan.step(step)).front();
  const TileLayout from(plan, input, lists);
  const TileLayout to(plan, step, lists);
  const TileMoves moves(from, to);
  const auto size = static_cast<double>(size_of(plan.step(input).dtype));
  PaperStep out;
  out.given.resize(plan.ranks);
  out.awaited.assign(plan.ranks, 0);
  out.copied.assign(plan.ranks, 0);
  out.pieces.assign(plan.ranks, 0);
  std::map<Rank, PaperMessage> by_giver;
  for (std::size_t r = 0; r < plan.ranks; ++r) {
    const auto rank = static_cast<Rank>(r);
    by_giver.clear();
    moves.for_each_needed(rank, [&](const TilePiece& piece, std::optional<Rank> giver) {
      if (!giver) return;
      const auto elements = moves.overlap(piece).shape().element_count();
      const auto bytes = size * static_cast<double>(elements);
      const bool is_whole_source = elements == elements_of(from.grid(), piece.source);
      const bool is_whole_target = elements == elements_of(to.grid(), piece.target) && from.layers() == 1;
      const bool is_kept = *giver == rank;
      if (!is_whole_target || (is_kept && !is_whole_source)) out.copied[r] += bytes;
      ++out.pieces[r];
      if (is_kept) return;
      auto& message = by_giver[*giver];
      message.to = rank;
      message.bytes += bytes;
      if (!is_whole_source) message.packed += bytes;
      ++message.pieces;
    });
    out.awaited[r] = static_cast<std::uint32_t>(by_giver.size());
    for (const auto& [giver, message] : by_giver) out.given[giver].push_back(message);
  }
  // Each rank begins with the next one, so that not all send to the same rank at once.
  for (std::size_t r = 0; r < plan.ranks; ++r) {
    auto& given = out.given[r];
    std::rotate(given.begin(),
                std::find_if(given.begin(), given.end(), [&](const auto& message) { return message.to > r; }),
                given.end());
  }
  return out;
}

PaperStep computation_of(const EinGraph& graph, const PhysicalPlan& plan, StepId step, const CalibratedModel& model) {
  const auto& compute = std::get<ComputeStep>(plan.step(step).op);
  PaperStep out;
  out.seconds.assign(plan.ranks, 0);
  const auto seconds = seconds_of_block(graph, plan, step, model);
  for (std::size_t r = 0; r < plan.ranks; ++r)
    if (compute.at[r]) out.seconds[r] = seconds;
  return out;
}

// Numbers of lists, equal for equal lists.
std::vector<std::int64_t> numbers_of(std::span<const TileHolders> lists) {
  std::vector<std::int64_t> numbers;
  for (std::size_t n = 0; n < lists.size(); ++n) {
    std::size_t same = 0;
    while (same < n && !(lists[same] == lists[n])) ++same;
    numbers.push_back(static_cast<std::int64_t>(same));
  }
  return numbers;
}

}  // namespace

PaperSteps steps_on_paper(const EinGraph& graph, const PhysicalPlan& plan, std::span<const TileHolders> lists,
                          const CalibratedModel& model) {
  PaperSteps out;
  out.kinds.emplace_back();  // in place already
  const auto numbers = numbers_of(lists);
  const auto list_of = [&](StepId step) -> std::int64_t {
    const auto* list = std::get_if<std::size_t>(&plan.step(step).placement);
    return list == nullptr ? -1 : numbers.at(*list);
  };
  std::map<MoveKey, std::size_t> known;
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    const StepId step(n);
    const auto& op = plan.steps[n].op;
    auto& inputs = out.inputs.emplace_back();
    for (const auto input : inputs_of(plan.steps[n])) inputs.push_back(input.index());
    if (std::holds_alternative<ScanStep>(op)) {
      out.kind_of.push_back(0);
      continue;
    }
    if (std::holds_alternative<ComputeStep>(op)) {
      out.kind_of.push_back(out.kinds.size());
      out.kinds.push_back(computation_of(graph, plan, step, model));
      continue;
    }
    const auto input = inputs_of(plan.steps[n]).front();
    auto [from, from_at] = end_of(plan, input, list_of(input));
    auto [to, to_at] = end_of(plan, step, list_of(step));
    const auto [found, is_new] = known.try_emplace(
        MoveKey(std::move(from), std::move(from_at), std::move(to), std::move(to_at)), out.kinds.size());
    if (is_new) out.kinds.push_back(messages_of(plan, step, lists));
    out.kind_of.push_back(found->second);
  }
  return out;
}

namespace {

class Run {
 public:
  Run(const PaperSteps& steps, std::size_t ranks, const PaperCluster& cluster)
      : steps_(steps),
        cluster_(cluster),
        count_(steps.kind_of.size()),
        states_(ranks * count_, State::Waiting),
        arrived_(ranks * count_, 0),
        first_open_(ranks, 0),
        is_busy_(ranks, false),
        hosts_((ranks + cluster.ranks_per_host - 1) / cluster.ranks_per_host),
        received_(ranks, 0) {}

  PaperRun run() {
    const auto ranks = first_open_.size();
    for (std::size_t r = 0; r < ranks; ++r) go_on(r);
    while (!events_.empty()) {
      const auto event = events_.top();
      events_.pop();
      now_ = event.at;
      switch (event.kind) {
        case Event::Kind::Processor: processor_done(event); break;
        case Event::Kind::Arriving: arriving(event); break;
        case Event::Kind::Arrived: arrived(event); break;
      }
    }
    for (const auto open : first_open_) CHECK(open == count_, "every rank comes to the end of a plan");
    result_.seconds = now_;
    result_.computing /= static_cast<double>(ranks);
    result_.exchanging /= static_cast<double>(ranks);
    result_.most_bytes = *std::max_element(received_.begin(), received_.end());
    return result_;
  }

 private:
  // Of a step at a rank. A step of messages is sent from and then taken in, others are computed.
  enum class State : std::uint8_t { Waiting, Sending, Awaiting, Taking, Done };

  struct Event {
    enum class Kind : std::uint8_t { Processor, Arriving, Arrived };
    double at = 0;
    std::uint64_t number = 0;  // of events at one time the first one goes first
    Kind kind = Kind::Processor;
    std::size_t place = 0;  // a host, or a rank
    std::size_t step = 0;   // or the version of the host's jobs
    double bytes = 0;

    bool operator<(const Event& other) const { return std::tie(other.at, other.number) < std::tie(at, number); }
  };

  struct Job {
    std::size_t rank = 0;
    std::size_t step = 0;
    double left = 0;  // seconds, with a core of its own
  };
  struct Host {
    std::vector<Job> jobs;
    double since = 0;
    std::size_t version = 0;
    double out_free = 0;
    double in_free = 0;
  };

  std::size_t host_of(std::size_t rank) const { return rank / cluster_.ranks_per_host; }
  const PaperStep& kind(std::size_t step) const { return steps_.kinds[steps_.kind_of[step]]; }
  State& state(std::size_t rank, std::size_t step) { return states_[rank * count_ + step]; }

  void add_event(double at, Event::Kind event_kind, std::size_t place, std::size_t step, double bytes = 0) {
    events_.push({at, next_number_++, event_kind, place, step, bytes});
  }

  double speed(const Host& host) const {
    return std::min(1.0, cluster_.cores_per_host / static_cast<double>(std::max<std::size_t>(1, host.jobs.size())));
  }
  void advance(Host& host) {
    const auto done = (now_ - host.since) * speed(host);
    for (auto& job : host.jobs) job.left = std::max(0.0, job.left - done);
    host.since = now_;
  }
  void await_processor(std::size_t h) {
    auto& host = hosts_[h];
    ++host.version;
    if (host.jobs.empty()) return;
    const auto next = std::min_element(host.jobs.begin(), host.jobs.end(),
                                       [](const Job& a, const Job& b) { return a.left < b.left; });
    add_event(now_ + next->left / speed(host), Event::Kind::Processor, h, host.version);
  }
  void start_job(std::size_t rank, std::size_t step, double seconds) {
    is_busy_[rank] = true;
    auto& host = hosts_[host_of(rank)];
    advance(host);
    host.jobs.push_back({rank, step, seconds});
    await_processor(host_of(rank));
  }

  void processor_done(const Event& event) {
    auto& host = hosts_[event.place];
    if (event.step != host.version) return;
    advance(host);
    const auto next = std::min_element(host.jobs.begin(), host.jobs.end(),
                                       [](const Job& a, const Job& b) { return a.left < b.left; });
    const auto job = *next;
    host.jobs.erase(next);
    await_processor(event.place);
    is_busy_[job.rank] = false;
    finish_phase(job.rank, job.step);
    go_on(job.rank);
  }

  void finish_phase(std::size_t rank, std::size_t step) {
    auto& at = state(rank, step);
    if (at == State::Sending) {
      send(rank, step);
      at = State::Awaiting;
    } else {
      at = State::Done;
    }
  }

  void send(std::size_t rank, std::size_t step) {
    auto& host = hosts_[host_of(rank)];
    for (const auto& message : kind(step).given[rank]) {
      ++result_.messages;
      result_.bytes += message.bytes;
      received_[message.to] += message.bytes;
      if (host_of(message.to) == host_of(rank)) {
        add_event(now_, Event::Kind::Arrived, message.to, step);
        continue;
      }
      host.out_free = std::max(host.out_free, now_) + message.bytes / cluster_.bandwidth;
      // Its first byte arrives as soon as it was sent, if the receiver's link is free.
      add_event(host.out_free - message.bytes / cluster_.bandwidth + cluster_.latency, Event::Kind::Arriving,
                message.to, step, message.bytes);
    }
  }
  void arriving(const Event& event) {
    auto& host = hosts_[host_of(event.place)];
    host.in_free = std::max(host.in_free, now_) + event.bytes / cluster_.bandwidth;
    add_event(host.in_free, Event::Kind::Arrived, event.place, event.step);
  }
  void arrived(const Event& event) {
    ++arrived_[event.place * count_ + event.step];
    go_on(event.place);
  }

  bool has_inputs(std::size_t rank, std::size_t step) {
    return std::all_of(steps_.inputs[step].begin(), steps_.inputs[step].end(),
                       [&](std::size_t input) { return state(rank, input) == State::Done; });
  }

  double seconds_of_sending(std::size_t rank, const PaperStep& step) const {
    const auto& given = step.given[rank];
    const auto& costs = cluster_.software;
    double seconds = costs.per_streams;
    if (given.empty()) return seconds;
    seconds += costs.per_exchange + costs.per_peer * static_cast<double>(given.size());
    for (const auto& message : given)
      seconds += costs.per_piece * message.pieces + costs.per_copied_byte * message.packed;
    return seconds;
  }
  double seconds_of_taking(std::size_t rank, const PaperStep& step) const {
    const auto& costs = cluster_.software;
    return costs.per_piece * step.pieces[rank] + costs.per_copied_byte * step.copied[rank] +
           costs.per_byte * received_in(rank, step);
  }
  double received_in(std::size_t rank, const PaperStep& step) const {
    if (step.awaited[rank] == 0) return 0;
    auto& known = received_by_step_[&step];
    if (known.empty()) {
      known.assign(first_open_.size(), 0);
      for (const auto& given : step.given)
        for (const auto& message : given) known[message.to] += message.bytes;
    }
    return known[rank];
  }

  // Starts the first step of the window that has something to do; those without are done at once.
  void go_on(std::size_t rank) {
    while (!is_busy_[rank]) {
      auto& first = first_open_[rank];
      while (first < count_ && state(rank, first) == State::Done) ++first;
      const auto end = std::min(count_, first + cluster_.steps_ahead);
      bool moved = false;
      for (auto step = first; step < end && !is_busy_[rank] && !moved; ++step) moved = start(rank, step);
      if (!moved) return;
    }
  }

  // Whether anything changed.
  bool start(std::size_t rank, std::size_t step) {
    auto& at = state(rank, step);
    const auto& what = kind(step);
    if (at == State::Waiting) {
      if (!has_inputs(rank, step)) return false;
      if (!what.seconds.empty()) {
        at = State::Taking;
        result_.computing += what.seconds[rank];
        return begin_phase(rank, step, what.seconds[rank]);
      }
      if (what.given.empty() || (what.given[rank].empty() && what.pieces[rank] == 0)) {
        at = State::Done;
        return true;
      }
      at = State::Sending;
      const auto seconds = seconds_of_sending(rank, what);
      result_.exchanging += seconds;
      return begin_phase(rank, step, seconds);
    }
    if (at == State::Awaiting && arrived_[rank * count_ + step] == what.awaited[rank]) {
      at = State::Taking;
      const auto seconds = seconds_of_taking(rank, what);
      result_.exchanging += seconds;
      return begin_phase(rank, step, seconds);
    }
    return false;
  }
  bool begin_phase(std::size_t rank, std::size_t step, double seconds) {
    if (seconds > 0) start_job(rank, step, seconds);
    else finish_phase(rank, step);
    return true;
  }

  const PaperSteps& steps_;
  const PaperCluster& cluster_;
  std::size_t count_;
  std::vector<State> states_;           // of each step of each rank
  std::vector<std::uint32_t> arrived_;  // messages, likewise
  std::vector<std::size_t> first_open_;
  std::vector<bool> is_busy_;
  std::vector<Host> hosts_;
  std::vector<double> received_;
  mutable std::map<const PaperStep*, std::vector<double>> received_by_step_;
  std::priority_queue<Event> events_;
  std::uint64_t next_number_ = 0;
  double now_ = 0;
  PaperRun result_;
};

}  // namespace

PaperRun run_on_paper(const PaperSteps& steps, std::size_t ranks, const PaperCluster& cluster) {
  return Run(steps, ranks, cluster).run();
}

}  // namespace eindb::bench
