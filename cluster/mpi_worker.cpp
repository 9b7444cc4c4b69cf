#include "cluster/mpi_worker.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cluster/control_message.hpp"
#include "cluster/worker.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/worker_file/shard_file.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    auto name = (fs::temp_directory_path() / "eindb-rank-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(ErrorKind::Io,
                  "a temporary directory for tiles cannot be made: " + std::generic_category().message(errno));
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Creates the folder if it does not exist.
fs::path directory_in(const fs::path& folder, Rank rank) {
  std::error_code ignored;  // an error shows with the directory inside
  fs::create_directories(folder, ignored);
  return folder / ("rank-" + std::to_string(rank));
}

// A worker and the objects that it uses, in the order of their dependencies.
class WorkerOfDatabase {
 public:
  WorkerOfDatabase(const std::string& folder, MpiTransport& transport, WorkerOptions options, NodeLog& log)
      : directory_(folder.empty() ? temporary_.emplace().path() : directory_in(folder, transport.world().rank())),
        shards_(directory_.string()),
        worker_(in_directory(std::move(options)), shards_, transport, log) {}

  void serve(std::unique_ptr<Channel> channel) { worker_.serve(std::move(channel)); }

 private:
  WorkerOptions in_directory(WorkerOptions options) const {
    options.scratch_directory = directory_.string();
    return options;
  }

  std::optional<TemporaryDirectory> temporary_;
  fs::path directory_;
  ShardFile shards_;
  Worker worker_;
};

// Reads the coordinator's first message, then sends the refusal.
void refuse(Channel& channel) {
  constexpr std::chrono::seconds kPatience{10};
  const auto why = RemoteError::of(std::current_exception());
  try {
    channel.receive(kPatience);
    channel.send(encode(control::Refusal{why}));
  } catch (const Error&) {  // the coordinator has closed the channel
  }
}

}  // namespace

void run_mpi_worker(MpiTransport& transport, const WorkerOptions& options, NodeLog& log) {
  std::optional<WorkerOfDatabase> worker;
  std::string folder;
  while (auto call = transport.next_coordinator()) {
    CHECK(call->channel != nullptr, "a call has a channel");
    try {
      if (!worker || folder != call->subject) {
        worker.reset();
        folder = call->subject;
        worker.emplace(folder, transport, options, log);
      }
      worker->serve(std::move(call->channel));
    } catch (const Error& error) {
      if (call->channel != nullptr) refuse(*call->channel);
      else log.write(NodeLog::Level::Warning, "coordinator lost", call->subject, error.message());
    }
  }
}

}  // namespace eindb
