#include "cluster/mpi/outbox.hpp"

#include "common/check.hpp"

namespace eindb::mpi {

namespace {
constexpr int kTag = 0;
}  // namespace

void Outbox::send(std::vector<std::byte> bytes, Rank to, MPI_Comm comm, ThreadGate& gate) {
  CHECK(std::in_range<int>(bytes.size()), "MPI can count the bytes of a message");
  const auto inside = gate.enter();
  auto& message = messages_.emplace_back(Message{std::move(bytes)});
  waiting_bytes_ += message.bytes.size();
  check(MPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE, to, kTag, comm,
                  &message.request),
        "MPI_Isend");
}

void Outbox::clear(ThreadGate& gate) {
  const auto inside = gate.enter();
  std::erase_if(messages_, [&](Message& message) {
    int done = 0;
    check(MPI_Test(&message.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) waiting_bytes_ -= message.bytes.size();
    return done != 0;
  });
  CHECK(!messages_.empty() || waiting_bytes_ == 0, "no bytes wait where no messages do");
}

std::optional<std::vector<std::byte>> take_message(int& source, MPI_Comm comm, ThreadGate& gate) {
  const auto inside = gate.enter();
  int arrived = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check(MPI_Improbe(source, kTag, comm, &arrived, &message, &status), "MPI_Improbe");
  if (arrived == 0) return std::nullopt;
  int size = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
  CHECK(size >= 0, "MPI knows how many bytes a message has");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  check(MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  source = status.MPI_SOURCE;
  return bytes;
}

}  // namespace eindb::mpi
