#include "cluster/data_tasks.hpp"

#include <array>
#include <utility>

#include "common/byte_order.hpp"
#include "common/check.hpp"

namespace eindb {
namespace {

constexpr std::chrono::milliseconds kFarewellTime{2000};
constexpr std::size_t kDrainBytes = std::size_t{16} << 10U;

// The number of drains in one step, after which the node's other tasks have their turn.
constexpr int kDrainsAtATime = 16;

// The head of Bind has both ranks.
constexpr std::size_t kFromOffset = 0;
constexpr std::size_t kToOffset = 2;
using BindHead = std::array<std::byte, 4>;

// The payload of a probe, larger than a packet of any network.
constexpr std::size_t kProbeBytes = std::size_t{96} << 10U;

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
    if (const auto wait = connection().flush(); wait != Wait::None) return step_when(wait);
    if (const auto wait = connection().fetch_frame(); wait != Wait::None) return step_when(wait);
    if (const auto wait = take_frame(); wait != Wait::None) return step_when(wait);
  }
}

Connection::Wait IdleTask::take_frame() {
  CHECK(connection().frame() != nullptr, "a frame is taken when it has come");
  const auto kind = connection().frame()->kind;
  if (kind == FrameKind::Alive) {  // sent before the sender's part in the statement ended
    connection().finish_frame();
    return Wait::None;
  }
  if (kind == FrameKind::Probe && bound_ && !released_) return send_back();
  if (released_) release();
  else answer();
  return Wait::None;
}

Connection::Wait IdleTask::send_back() {
  const auto frame = *connection().frame();
  if (frame.total != frame.payload_size) throw Error(ErrorKind::Corrupt, "a probe comes in pieces");
  probe_.resize(frame.payload_size);
  if (const auto wait = connection().fetch_payload(probe_); wait != Wait::None) return wait;
  connection().finish_frame();
  connection().stage({.kind = FrameKind::Probe, .total = probe_.size()}, {}, probe_);
  connection().keep_payload();
  return Wait::None;
}

void IdleTask::release() {
  CHECK(released_.has_value(), "a connection is released by the statement that it was in");
  const auto frame = *connection().frame();
  if (frame.kind != FrameKind::Release || frame.stream != *released_ || frame.total != 0)
    throw Error(ErrorKind::Corrupt, "a frame does not belong to the statement that has ended");
  connection().finish_frame();
  released_.reset();
}

// The answer is small enough for the socket's buffer.
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
      failed_(std::move(failed)) {
  CHECK(done_ != nullptr && failed_ != nullptr, "somebody hears whether a connection was bound");
  CHECK(binding_.from > binding_.to, "a rank connects to lower ones");
}

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

// ---- ProbeTask -----------------------------------------------------------------------------------------------------

ProbeTask::ProbeTask(NodeTasks& tasks, std::unique_ptr<Connection> connection, std::chrono::milliseconds time,
                     Done done)
    : ConnectionTask(tasks, std::move(connection)), time_(time), done_(std::move(done)), bytes_(kProbeBytes) {
  CHECK(done_ != nullptr, "somebody hears what a probe finds");
}

void ProbeTask::step() {
  if (!std::exchange(has_asked_, true)) {
    expire_after(time_, "the connection to " + connection().peer() + " was made, and data does not come through it");
    connection().stage({.kind = FrameKind::Probe, .total = bytes_.size()}, {}, bytes_);
    connection().keep_payload();
  }
  if (const auto wait = connection().flush(); wait != Wait::None) return step_when(wait);
  if (const auto wait = connection().fetch_frame(); wait != Wait::None) return step_when(wait);
  const auto frame = *connection().frame();
  if (frame.kind != FrameKind::Probe || frame.payload_size != bytes_.size())
    throw Error(ErrorKind::Corrupt, "a frame does not answer what was asked");
  if (const auto wait = connection().fetch_payload(bytes_); wait != Wait::None) return step_when(wait);
  give_away();
  done_(std::nullopt);
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
