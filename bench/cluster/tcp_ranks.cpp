#include "bench/cluster/tcp_ranks.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cluster/tcp_node.hpp"

namespace eindb::bench {

namespace {

constexpr std::uint64_t kStatement = 1;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// One end of the connection between a forked process and its parent.
class Line {
 public:
  explicit Line(int descriptor) : descriptor_(descriptor) {}
  Line(Line&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  Line& operator=(Line&&) = delete;
  ~Line() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  static std::pair<Line, Line> make() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) fail("socketpair");
    return {Line(ends[0]), Line(ends[1])};
  }

  void say(std::span<const std::uint16_t> ports) const {
    const auto bytes = std::as_bytes(ports);
    if (::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
      fail("ports are not taken");
  }

  void hear(std::span<std::uint16_t> ports) const {
    const auto bytes = std::as_writable_bytes(ports);
    if (::recv(descriptor_, bytes.data(), bytes.size(), MSG_WAITALL) != static_cast<ssize_t>(bytes.size()))
      fail("ports are not said");
  }

 private:
  int descriptor_;
};

void be_rank(std::size_t rank, std::size_t ranks, const Line& line,
             const std::function<void(Exchange& exchange)>& work) {
  TcpNodeOptions options;
  options.name = "rank " + std::to_string(rank);
  options.listen = "127.0.0.1:0";
  TcpNode node(std::move(options));
  const auto own = node.port();
  line.say(std::span(&own, 1));
  std::vector<std::uint16_t> ports(ranks);
  line.hear(ports);
  StatementRanks statement{kStatement, static_cast<Rank>(rank), {}};
  for (const auto port : ports) statement.addresses.push_back("127.0.0.1:" + std::to_string(port));
  work(*node.open_exchange(statement));
}

/// The exit status of a forked process.
int status_of_rank(std::size_t rank, std::size_t ranks, const Line& line,
                   const std::function<void(Exchange& exchange)>& work) {
  try {
    be_rank(rank, ranks, line, work);
    std::fflush(stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %zu: %s\n", rank, error.what());
    return 1;
  }
}

/// Exchanges the addresses of all ranks. A missing rank has reported the reason; the others end when their connections
/// do.
void introduce(const std::vector<Line>& lines) {
  std::vector<std::uint16_t> ports(lines.size());
  for (std::size_t n = 0; n < lines.size(); ++n) lines[n].hear(std::span(ports).subspan(n, 1));
  for (const auto& line : lines) line.say(ports);
}

}  // namespace

bool run_over_tcp(std::size_t ranks, const std::function<void(Exchange& exchange)>& work) {
  std::vector<Line> lines;
  std::vector<pid_t> processes;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    auto [own, its] = Line::make();
    const auto process = ::fork();
    if (process < 0) fail("fork");
    if (process == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // ends it if the parent is gone
      lines.clear();                       // of the ranks before it
      ::_exit(status_of_rank(rank, ranks, its, work));
    }
    processes.push_back(process);
    lines.push_back(std::move(own));
  }
  bool well = true;
  try {
    introduce(lines);
  } catch (const std::system_error&) {
    well = false;
    lines.clear();
  }
  for (const auto process : processes) {
    int status = 0;
    if (::waitpid(process, &status, 0) != process || status != 0) well = false;
  }
  return well;
}

}  // namespace eindb::bench
