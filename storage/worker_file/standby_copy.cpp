#include "storage/worker_file/standby_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/open_file.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/worker_file/data_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{1} << 20U;
constexpr const char* kDatabaseName = "database.db";

[[noreturn]] void standby_failed(const std::string& what, const std::string& path) {
  throw Error(ErrorKind::Io, "cannot " + what + " " + path + ": " + std::strerror(errno));
}

FileDescriptor open_standby(const std::string& path, int flags) {
  FileDescriptor file(open_file(path, flags, 0600));
  if (!file) standby_failed("open", path);
  return file;
}

void write_at(const FileDescriptor& file, const std::string& path, std::int64_t at, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(file.get(), bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) standby_failed("write", path);
    at += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

std::vector<std::byte> read_at(const FileDescriptor& file, const std::string& path, std::int64_t at, std::size_t most) {
  std::vector<std::byte> bytes(most);
  std::size_t there = 0;
  while (there < most) {
    const auto count = ::pread(file.get(), bytes.data() + there, most - there, at + static_cast<std::int64_t>(there));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) standby_failed("read", path);
    if (count == 0) break;
    there += static_cast<std::size_t>(count);
  }
  bytes.resize(there);
  return bytes;
}

void make_durable(const FileDescriptor& file, const std::string& path) {
  if (::fdatasync(file.get()) != 0) standby_failed("write", path);
}

void make_folder_durable(const std::string& folder) {
  const FileDescriptor file(open_file(folder, O_RDONLY | O_DIRECTORY));
  if (!file || ::fsync(file.get()) != 0) standby_failed("write", folder);
}

std::int64_t end_of(const LogChain& chain) {
  return static_cast<std::int64_t>(kLogHeaderBytes) +
         static_cast<std::int64_t>(chain.place().frames) * static_cast<std::int64_t>(chain.frame_bytes());
}

std::string folder_in(const std::string& directory, const char* name) { return directory + "/" + name; }

FileDescriptor lock_copy(const std::string& directory) {
  try {
    return lock_data_directory(directory);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Busy) throw;
    throw Error(ErrorKind::Busy, "the copy in " + directory + " is being written or read by another process",
                std::nullopt, "try again; if it stays so, the coordinator still writes");
  }
}

// A process that ended between two renames has left the copy under its second name.
void settle_names(const std::string& directory) {
  const auto copy = folder_in(directory, "copy");
  const auto old = folder_in(directory, "copy.old");
  if (!fs::exists(copy) && fs::exists(old)) fs::rename(old, copy);
}

}  // namespace

// What is behind the last frame in order was cut off by the end of a process, and is overwritten.
StandbyCopy::Log StandbyCopy::open_log(const std::string& folder) const {
  const auto path = log_file_of(folder + "/" + kDatabaseName);
  Log log{.file = open_standby(path, O_RDWR | O_CREAT), .chain = {}};
  const auto header = read_at(log.file, path, 0, kLogHeaderBytes);
  if (header.size() < kLogHeaderBytes) return log;
  log.chain.emplace(header);
  while (log.chain->take(read_at(log.file, path, end_of(*log.chain), log.chain->frame_bytes()))) {
  }
  return log;
}

StandbyCopy::Log& StandbyCopy::log_of(Of which) {
  auto& log = which == Of::Copy ? log_ : new_log_;
  if (log) return *log;
  if (which == Of::NewCopy) throw Error(ErrorKind::Conflict, "no copy of the coordinator's file has been begun");
  settle_names(directory_);
  if (!is_in(directory_)) throw Error(ErrorKind::Conflict, "there is no copy of the coordinator's file");
  return log.emplace(open_log(folder_in(directory_, "copy")));
}

std::optional<LogPlace> StandbyCopy::place() {
  const std::lock_guard lock(mutex_);
  if (!is_in(directory_)) return std::nullopt;
  const auto held = lock_copy(directory_);
  const auto& chain = log_of(Of::Copy).chain;
  return chain ? chain->place() : LogPlace{};
}

void StandbyCopy::begin() {
  const std::lock_guard lock(mutex_);
  const auto held = lock_copy(directory_);
  settle_names(directory_);
  const auto folder = folder_in(directory_, "copy.new");
  new_log_.reset();
  fs::remove_all(folder);
  fs::create_directory(folder);
  new_log_ = open_log(folder);
  new_bytes_ = 0;
}

void StandbyCopy::add_bytes(std::int64_t from, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const auto held = lock_copy(directory_);
  if (!new_log_ || from != new_bytes_)
    throw Error(ErrorKind::Conflict, "these bytes do not follow those of the copy that is being made");
  const auto path = folder_in(directory_, "copy.new") + "/" + kDatabaseName;
  const auto file = open_standby(path, O_WRONLY | O_CREAT);
  write_at(file, path, from, bytes);
  new_bytes_ += static_cast<std::int64_t>(bytes.size());
}

void StandbyCopy::finish() {
  const std::lock_guard lock(mutex_);
  const auto held = lock_copy(directory_);
  if (!new_log_) throw Error(ErrorKind::Conflict, "no copy of the coordinator's file has been begun");
  const auto made = folder_in(directory_, "copy.new");
  const auto copy = folder_in(directory_, "copy");
  const auto old = folder_in(directory_, "copy.old");
  make_durable(open_standby(made + "/" + kDatabaseName, O_WRONLY | O_CREAT), made);
  make_folder_durable(made);
  fs::remove_all(old);
  if (fs::exists(copy)) fs::rename(copy, old);
  fs::rename(made, copy);
  make_folder_durable(directory_);
  log_ = std::exchange(new_log_, std::nullopt);
  std::error_code ignored;
  fs::remove_all(old, ignored);
}

void StandbyCopy::write_frames(Log& log, const std::string& path, std::span<const std::byte> header,
                               std::span<const std::byte> frames) {
  if (!log.chain) {
    log.chain.emplace(header);
    write_at(log.file, path, 0, header);
  }
  auto chain = *log.chain;
  const auto size = chain.frame_bytes();
  if (frames.size() % size != 0) throw Error(ErrorKind::Corrupt, "a frame of the log is cut off");
  for (std::size_t at = 0; at < frames.size(); at += size)
    if (!chain.take(frames.subspan(at, size)))
      throw Error(ErrorKind::Corrupt, "a frame of the log is damaged, or not the next one");
  write_at(log.file, path, end_of(*log.chain), frames);
  make_durable(log.file, path);
  log.chain = std::move(chain);
}

// As SQLite does when a log begins anew: the transactions that are whole are all of them, since the coordinator's log
// began anew behind them.
void StandbyCopy::move_into_file(const std::string& folder) {
  const auto path = folder + "/" + kDatabaseName;
  log_.reset();
  {
    SqliteConnection database(path, SqliteConnection::Access::ReadWrite);
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  log_ = open_log(folder);
  if (log_->chain) throw Error(ErrorKind::Io, "the log of " + path + " cannot be moved into the file");
}

void StandbyCopy::append(Of which, const LogPlace& behind, std::span<const std::byte> header,
                         std::span<const std::byte> frames) {
  const std::lock_guard lock(mutex_);
  const auto held = lock_copy(directory_);
  const LogChain given(header);
  const auto folder = folder_in(directory_, which == Of::Copy ? "copy" : "copy.new");
  auto* log = &log_of(which);
  const auto end = log->chain ? log->chain->place() : LogPlace{};
  if (behind != end) throw Error(ErrorKind::Conflict, "these transactions do not follow those of the copy");
  const bool begins_anew = log->chain && end.generation != given.place().generation;
  if (begins_anew && which == Of::NewCopy)
    throw Error(ErrorKind::Conflict, "the log has begun anew while the file was copied");
  if (begins_anew) {
    move_into_file(folder);
    log = &*log_;
  }
  try {
    write_frames(*log, log_file_of(folder + "/" + kDatabaseName), header, frames);
  } catch (...) {  // the end of the file is looked for anew
    (which == Of::Copy ? log_ : new_log_).reset();
    throw;
  }
}

bool StandbyCopy::is_in(const std::string& directory) {
  std::error_code ignored;
  return fs::exists(folder_in(directory, "copy"), ignored) || fs::exists(folder_in(directory, "copy.old"), ignored);
}

void StandbyCopy::take(const std::string& directory, const std::string& database) {
  if (!is_in(directory))
    throw Error(ErrorKind::UnknownName, "there is no copy of a coordinator's file in " + directory, std::nullopt,
                "a worker keeps one if the coordinator is started with --standby and its address");
  const auto held = lock_copy(directory);
  settle_names(directory);
  const auto from = folder_in(directory, "copy") + "/" + kDatabaseName;
  for (const auto& [source, target] :
       {std::pair(log_file_of(from), log_file_of(database)), std::pair(from, database)}) {
    if (fs::exists(target))
      throw Error(ErrorKind::Value, target + " is there already", std::nullopt, "give a path that is not there yet");
    if (!fs::exists(source)) continue;
    const auto in = open_standby(source, O_RDONLY);
    const auto out = open_standby(target, O_WRONLY | O_CREAT | O_EXCL);
    for (std::int64_t at = 0;;) {
      const auto bytes = read_at(in, source, at, kPiece);
      if (bytes.empty()) break;
      write_at(out, target, at, bytes);
      at += static_cast<std::int64_t>(bytes.size());
    }
    make_durable(out, target);
  }
  make_folder_durable(fs::absolute(database).parent_path().string());
}

}  // namespace eindb
