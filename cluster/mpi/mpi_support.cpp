#include "cluster/mpi/mpi_support.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <thread>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb::mpi {

void check(int code, std::string_view call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(ErrorKind::Io, std::string(call) + ": " + std::string(text.data(), static_cast<std::size_t>(length)));
}

void Patience::pause() {
  constexpr std::int64_t kYields = 200;
  constexpr std::chrono::microseconds kLongest{1000};
  ++looks_;
  if (looks_ <= kYields) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::min(kLongest, std::chrono::microseconds{20} * (1 + (looks_ - kYields) / 64)));
  }
}

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  CHECK(comm_ != MPI_COMM_NULL, "a rank has the communicators of its own groups");
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Communicator Communicator::of_world() {
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  return Communicator(comm);
}

Communicator::~Communicator() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

BlockType::BlockType(std::size_t bytes, std::size_t stride) {
  CHECK(std::in_range<int>(bytes) && bytes <= stride, "blocks in a row do not overlap, and MPI can count their bytes");
  MPI_Datatype block = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &block), "MPI_Type_contiguous");
  const int code = MPI_Type_create_resized(block, 0, static_cast<MPI_Aint>(stride), &type_);
  MPI_Type_free(&block);
  check(code, "MPI_Type_create_resized");
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
}

BlockType::~BlockType() {
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

void wait_all(std::span<MPI_Request> requests, ThreadGate& gate) {
  Patience patience;
  int done = 0;
  while (true) {
    {
      const auto inside = gate.enter();
      check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    }
    if (done != 0) return;
    patience.pause();
  }
}

}  // namespace eindb::mpi
