#include "cluster/data_tasks.hpp"

#include <array>
#include <utility>

#include "common/byte_order.hpp"

namespace eindb {
namespace {

constexpr std::chrono::milliseconds kFarewellTime{2000};
constexpr std::size_t kDrainBytes = std::size_t{16} << 10U;

// What others of this node wait for meanwhile.
constexpr int kDrainsAtATime = 16;

// The head of Bind: both ranks.
constexpr std::size_t kFromOffset = 0;
constexpr std::size_t kToOffset = 2;
using BindHead = std::array<std::byte, 4>;

DataBinding read_binding(const FrameHeader& frame, std::span<const std::byte> head) {
  if (frame.kind != FrameKind::Bind || head.size() != BindHead{}.size() || frame.total != 0)
    throw Error(ErrorKind::Corrupt, "a frame does not bind the connection to a statement");
  return {.statement = frame.stream,
          .from = load_number<Rank>(head, kFromOffset),
          .to = load_number<Rank>(head, kToOffset)};
}

}  // namespace

// ---- IdleTask ------------------------------------------------------------------------------------------------------

void IdleTask::step() {
  while (!is_over()) {
    if (const auto wait = connection().fetch_frame(); wait != Wait::None) return step_when(wait);
    take_frame();
  }
}

void IdleTask::take_frame() {
  if (!released_) return answer();
  const auto frame = *connection().frame();
  if (frame.kind != FrameKind::Release || frame.stream != *released_ || frame.total != 0)
    throw Error(ErrorKind::Corrupt, "a frame does not belong to the statement that has ended");
  connection().finish_frame();
  released_.reset();
}

// An answer is less than any socket has room for.
void IdleTask::answer() {
  if (!bound_) throw Error(ErrorKind::Corrupt, "a frame came in no statement");
  const auto binding = read_binding(*connection().frame(), connection().head());
  connection().finish_frame();
  connection().stage({.kind = FrameKind::Bound, .stream = binding.statement});
  if (connection().flush() != Wait::None) throw Error(ErrorKind::WorkerLost, "a connection takes no answer");
  const auto bound = bound_;
  bound(give_away(), binding);
}

void IdleTask::failed(const Error& error) {
  if (error.kind() == ErrorKind::Corrupt)
    tasks().log("connection to " + connection().peer() + " closed: " + error.message());
}

// ---- BindTask ------------------------------------------------------------------------------------------------------

BindTask::BindTask(NodeTasks& tasks, std::unique_ptr<Connection> connection, const DataBinding& binding,
                   std::chrono::milliseconds time, Done done, Failed failed)
    : ConnectionTask(tasks, std::move(connection)),
      binding_(binding),
      time_(time),
      done_(std::move(done)),
      failed_(std::move(failed)) {}

void BindTask::step() {
  if (!std::exchange(has_asked_, true)) {
    expire_after(time_, "the connection to " + connection().peer() + " was not bound in time");
    BindHead head{};
    store_number(head, kFromOffset, binding_.from);
    store_number(head, kToOffset, binding_.to);
    connection().stage({.kind = FrameKind::Bind, .stream = binding_.statement}, head);
  }
  if (const auto wait = connection().flush(); wait != Wait::None) return step_when(wait);
  if (const auto wait = connection().fetch_frame(); wait != Wait::None) return step_when(wait);
  const auto frame = *connection().frame();
  if (frame.kind != FrameKind::Bound || frame.stream != binding_.statement || frame.total != 0)
    throw Error(ErrorKind::Corrupt, "a frame does not answer what was asked");
  connection().finish_frame();
  done_(give_away());
}

// ---- FarewellTask --------------------------------------------------------------------------------------------------

void FarewellTask::step() {
  if (!std::exchange(has_begun_, true)) expire_after(kFarewellTime, "it is over");
  step_when(connection().flush());
  std::array<std::byte, kDrainBytes> drained{};
  for (int n = 0; n < kDrainsAtATime; ++n) {
    const auto progress = connection().read_bytes(drained);
    if (progress.wait != Wait::None) return step_when(progress.wait);
  }
  step_soon();
}

}  // namespace eindb
