// Control messages survive encoding and decoding; other versions and malformed bytes are refused.
#include "cluster/control_message.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

using std::chrono::milliseconds;

std::vector<ToWorker> messages_to_worker() {
  const control::Run run{7,
                         1,
                         {"10.0.0.1:7700", "10.0.0.2:7700", ""},
                         {std::byte{1}, std::byte{2}},
                         3,
                         std::int64_t{5} << 30U,
                         {control::HeldContents{{{2, 1, 1000}, {0, 0, -995}}}, {}},
                         {ResultContents{"Z", ShardTransaction{12}, ContentId{1 << 20}}, std::nullopt}};
  return {control::Hello{kControlVersion, 99, milliseconds(1000), {3, 4}, true},
          control::Heartbeat{},
          run,
          control::Stop{7, {ErrorKind::Cancelled, "the statement was cancelled", ""}},
          control::Drain{},
          control::Put{9, ShardTransaction{1}, {{ContentId{5}, "A", {std::byte{9}}, 12}, {ContentId{6}, "A", {}}}},
          control::Fetch{1, {ContentId{5}, ContentId{3}}},
          control::Prepare{2, ShardTransaction{1}, 40},
          control::Commit{3, ShardTransaction{1}, {{ContentId{5}, ContentId{6}}}},
          control::Abort{ShardTransaction{1}},
          control::Drop{4, {{ContentId{5}, ContentId{6}}, {ContentId{100}, ContentId{100}}}, 17},
          control::AskUndecided{5},
          control::Repair{6, {ContentId{5}, "A", {std::byte{9}}}},
          control::Probe{7, {"10.0.0.1:7700", "10.0.0.2:7700"}},
          control::Advance{{7, 77}},
          control::ShareMemory{3},
          control::Claim{7, 11, {12, 13}},
          control::AskContents{8},
          control::AskStandby{9},
          control::BeginStandby{10},
          control::StandbyBytes{11, 1 << 20, {std::byte{7}, std::byte{8}}},
          control::StandbyFrames{12, true, {77, 3, 99}, {std::byte{1}}, {std::byte{2}, std::byte{3}}},
          control::FinishStandby{13}};
}

RankReport report() {
  StepProfile step{0.5, 0.375, 0.25, 1, 2, 3, 4, 13, 5, 6, NodeProfile{1.5, 7, 8, 9, 10, 11, 12}};
  return {ExecutionProfile{{step, {}}, 2.5, 100, 50}, {{StoredTile{3, 4, 0xFFFFFFFFFFFFFFFF}}, {}}};
}

std::vector<ToCoordinator> messages_to_coordinator() {
  return {control::Welcome{kControlVersion, "0.1.0", DataId{77}, "10.0.0.1:7700", 8, 1 << 30, {7, 77}, 1 << 20},
          control::Refusal{{ErrorKind::Value, "no", "yes"}},
          control::Pulse{WorkerLoad{true, 2, 3, 4, 5, 6, 7, 8, milliseconds(9)}},
          control::Done{7, report(), {}},
          control::Done{8, RemoteError{ErrorKind::MemoryLimit, "too much", "less"}, {ContentId{3}, ContentId{9}}},
          control::Done{9, RemoteError{ErrorKind::WorkerLost, "no answer", ""}, {}, UnreachablePeer{2, true}},
          control::Leave{"it was drained"},
          control::Reply{1, RemoteError{ErrorKind::Io, "the disk is full", ""}},
          control::Reply{2, control::Acknowledged{}},
          control::Reply{3, control::Contents{{std::vector<std::byte>{std::byte{3}}, std::nullopt}}},
          control::Reply{4, control::Contents{}},
          control::Reply{5, control::Undecided{{ShardTransaction{3}, ShardTransaction{9}}}},
          control::Reply{6, control::Probed{{std::nullopt, RemoteError{ErrorKind::WorkerLost, "no answer", ""}}}},
          control::Reply{7, control::ContentList{{ContentId{3}, ContentId{9}}}},
          control::Reply{8, control::StandbyEnd{LogPlace{77, 3, 99}}},
          control::Reply{9, control::StandbyEnd{}},
          control::Damaged{{ContentId{3}, ContentId{9}}}};
}

template <class F>
ErrorKind kind_of_failure(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing failed";
  return ErrorKind::Internal;
}

TEST(ControlMessage, MessagesToWorkersArriveAsTheyWereSent) {
  const auto messages = messages_to_worker();
  EXPECT_EQ(messages.size(), std::variant_size_v<ToWorker>) << "every kind is tested";
  for (const auto& message : messages) EXPECT_EQ(decode_to_worker(encode(message)), message) << message.index();
}

TEST(ControlMessage, MessagesToCoordinatorsArriveAsTheyWereSent) {
  for (const auto& message : messages_to_coordinator()) {
    const auto bytes = encode(message);
    const auto got = decode_to_coordinator(bytes);
    EXPECT_EQ(got.index(), message.index());
    EXPECT_EQ(encode(got), bytes) << message.index();
  }
  const auto done = std::get<control::Done>(decode_to_coordinator(encode(control::Done{7, report(), {}})));
  const auto& got = std::get<RankReport>(done.outcome);
  EXPECT_EQ(got.stored, report().stored);
  ASSERT_EQ(got.profile.steps.size(), 2U);
  EXPECT_EQ(got.profile.steps[0].messages_received, 4);
  EXPECT_EQ(got.profile.steps[0].compute.elements, 12);
  EXPECT_EQ(got.profile.workspace_bytes, 50);
}

TEST(ControlMessage, ContentsTakeAFewBytesForEachRun) {
  ContentRuns contents;
  contents.add({0, 99'999, ContentId{(std::int64_t{5} << 32U) + 7}});
  contents.add({100'000, 100'000, ContentId{9}});
  contents.add({100'003, 200'000, ContentId{(std::int64_t{5} << 32U) + 100'010}});
  const auto held = control::HeldContents::of(contents);
  EXPECT_EQ(held.contents(), contents);
  EXPECT_LT(encode(ToWorker(control::Run{1, 0, {}, {}, 0, 0, {held}, {}})).size(), 50U);
}

TEST(ControlMessage, ContentsThatCannotBeAreRefused) {
  using Run = control::HeldContents::Run;
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const auto expect_refused = [](std::vector<Run> runs) {
    EXPECT_EQ(kind_of_failure([&] { control::HeldContents{std::move(runs)}.contents(); }), ErrorKind::Corrupt);
  };
  expect_refused({{std::uint64_t{1} << 63U, 0, 1}});
  expect_refused({{0, static_cast<std::uint64_t>(kMost), 1}});
  expect_refused({{0, static_cast<std::uint64_t>(kMost) - 1, 2}});
  expect_refused({{0, 0, 0}});
  expect_refused({{0, 0, -1}});
  expect_refused({{0, 0, kMost}, {0, 0, 0}});
  expect_refused({{3, 0, 1}, {static_cast<std::uint64_t>(kMost), 0, 1}});
}

TEST(ControlMessage, EveryPrefixIsRefused) {
  for (const auto& message : messages_to_worker()) {
    const auto bytes = encode(message);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_EQ(kind_of_failure([&] { decode_to_worker(std::span(bytes).first(size)); }), ErrorKind::Corrupt);
  }
  for (const auto& message : messages_to_coordinator()) {
    const auto bytes = encode(message);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_EQ(kind_of_failure([&] { decode_to_coordinator(std::span(bytes).first(size)); }), ErrorKind::Corrupt);
  }
}

TEST(ControlMessage, OtherVersionsAreToldApartFromNonsense) {
  auto hello = encode(ToWorker(control::Hello{kControlVersion + 1, 0, milliseconds(1000)}));
  hello.push_back(std::byte{1});  // an additional field of a later version
  EXPECT_EQ(kind_of_failure([&] { decode_hello(hello); }), ErrorKind::Unsupported);
  const auto welcome = encode(ToCoordinator(control::Welcome{kControlVersion + 1, "9", DataId{1}, "", 1, 1}));
  EXPECT_EQ(kind_of_failure([&] { decode_welcome(welcome); }), ErrorKind::Unsupported);
  const auto nonsense = std::as_bytes(std::span("GET / HTTP/1.1\r\n"));
  EXPECT_EQ(kind_of_failure([&] { decode_hello(nonsense); }), ErrorKind::Corrupt);
  EXPECT_EQ(kind_of_failure([&] { decode_welcome(nonsense); }), ErrorKind::Corrupt);
}

TEST(ControlMessage, ARefusalIsThrown) {
  const auto refusal = encode(ToCoordinator(control::Refusal{{ErrorKind::Value, "another database", "a hint"}}));
  try {
    decode_welcome(refusal);
    FAIL() << "it was taken for a welcome";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "another database");
    EXPECT_EQ(error.hint(), "a hint");
  }
}

}  // namespace
}  // namespace eindb
