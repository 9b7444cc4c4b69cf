#include "tests/simulation/virtual_network.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace eindb::simulation {
namespace {

// The system gives up on data that is not acknowledged for this long (TCP_USER_TIMEOUT).
constexpr Time kMostUnacknowledged = 40 * kSecond;
constexpr Time kFirstResend = 200 * kMillisecond;
constexpr Time kLongestResend = 3 * kSecond;
constexpr int kFirstPort = 20000;
// Data is received in parts once in this many times.
constexpr std::uint64_t kSplit = 8;

struct File {
  virtual ~File() = default;
  virtual std::uint32_t ready() const = 0;  // EPOLLIN, ...
  int number = -1;                          // -1: it has no descriptor
  bool is_closed = false;
};

struct Event final : File {
  std::uint64_t value = 0;
  std::uint32_t ready() const override { return value > 0 ? EPOLLIN : 0U; }
};

struct Epoll final : File {
  struct Registered {
    epoll_event event{};
    bool is_new = false;  // an event that has not been reported
  };
  std::map<int, Registered> files;
  std::uint32_t ready() const override { return 0; }
};

struct Socket;

struct Segment {
  enum class Kind : std::uint8_t { Bytes, End, Reset } kind = Kind::Bytes;
  std::string bytes = {};
  Time arrives = 0;
  Time sent = 0;
  Time resend = kFirstResend;
};

// One of the two directions of a connection.
struct Stream {
  std::weak_ptr<Socket> from;
  std::weak_ptr<Socket> to;
  Host* host_from = nullptr;
  Host* host_to = nullptr;
  std::deque<Segment> segments;
};

struct Socket final : File, std::enable_shared_from_this<Socket> {
  enum class State : std::uint8_t { New, Listening, Connecting, Connected } state = State::New;
  Host* host = nullptr;
  int port = 0;
  int peer_port = 0;
  int error = 0;  // of connecting, or of the connection
  bool waits = true;
  Time patience = kNever;
  bool has_ended = false;  // the peer sends no more data
  std::string received;
  std::size_t unreceived = 0;  // bytes sent but not received
  std::shared_ptr<Stream> sending;
  std::deque<std::shared_ptr<Socket>> waiting;  // to be accepted

  std::uint32_t ready() const override;
};

struct Network {
  std::vector<std::shared_ptr<File>> files;  // by descriptor
  std::map<int, std::weak_ptr<Socket>> listeners;
  std::map<std::pair<int, int>, Link> links;
  std::vector<std::shared_ptr<Socket>> sockets;  // open sockets that are connected or listening
  std::map<int, Host*> hosts;                    // the current or last host at each place
  int next_port = kFirstPort;
  std::size_t buffer = std::size_t{4} << 20U;
};

Network& network() {
  static auto* const one = new Network;
  return *one;
}

std::uint32_t Socket::ready() const {
  std::uint32_t out = 0;
  if (state == State::Listening) return waiting.empty() ? 0U : EPOLLIN;
  if (error != 0) out |= EPOLLERR | EPOLLHUP | EPOLLIN | EPOLLOUT;
  if (!received.empty() || has_ended) out |= EPOLLIN;
  if (state == State::Connected && unreceived < network().buffer) out |= EPOLLOUT;
  return out;
}

template <class T>
std::shared_ptr<T> find(int file) {
  auto& files = network().files;
  if (file < 0 || static_cast<std::size_t>(file) >= files.size()) return nullptr;
  return std::dynamic_pointer_cast<T>(files[static_cast<std::size_t>(file)]);
}

// Wakes the threads that wait for the file.
void tell(File& file) {
  if (file.number < 0) return;
  wake_all(&file);
  for (const auto& other : network().files)
    if (auto* epoll = dynamic_cast<Epoll*>(other.get()); epoll != nullptr)
      if (const auto found = epoll->files.find(file.number); found != epoll->files.end()) {
        found->second.is_new = true;
        wake_all(epoll);
      }
}

int fail(int error) {
  errno = error;
  return -1;
}

int open(const std::shared_ptr<File>& file) {
  const long number = system_call(SYS_open, reinterpret_cast<long>("/dev/null"), O_RDWR | O_CLOEXEC);
  if (number < 0) return fail(static_cast<int>(-number));
  auto& files = network().files;
  if (files.size() <= static_cast<std::size_t>(number)) files.resize(static_cast<std::size_t>(number) + 1);
  file->number = static_cast<int>(number);
  files[static_cast<std::size_t>(number)] = file;
  return file->number;
}

void note_open(const std::shared_ptr<Socket>& socket) { network().sockets.push_back(socket); }

// Whether no host answers at the place.
bool is_silent(int place) {
  const auto found = network().hosts.find(place);
  return found != network().hosts.end() && !found->second->is_alive && found->second->is_silent;
}

Time travel_time(const Link& way) {
  return way.delay + static_cast<Time>(draw_below(static_cast<std::uint64_t>(way.jitter) + 1));
}

void break_off(Socket& socket, int error) {
  if (socket.error != 0) return;
  socket.error = error;
  tell(socket);
}

void receive(Stream& stream, Socket& to, Segment& segment) {
  switch (segment.kind) {
    case Segment::Kind::Bytes: to.received += segment.bytes; break;
    case Segment::Kind::End: to.has_ended = true; break;
    case Segment::Kind::Reset: stream.segments.clear(); return break_off(to, ECONNRESET);
  }
  tell(to);
}

void arrive(const std::shared_ptr<Stream>& stream);

void schedule(const std::shared_ptr<Stream>& stream) {
  if (!stream->segments.empty()) at(stream->segments.front().arrives, [stream] { arrive(stream); });
}

// The stream's first segment arrives, unless it is lost.
void arrive(const std::shared_ptr<Stream>& stream) {
  if (stream->segments.empty()) return;
  auto& segment = stream->segments.front();
  if (segment.arrives > now()) return;  // an obsolete arrival
  const auto& way = link(stream->host_from->place, stream->host_to->place);
  const auto to = stream->to.lock();
  const bool is_gone = to == nullptr || to->is_closed || !stream->host_to->is_alive;
  const bool is_lost =
      way.is_cut || (way.loses_once_in > 0 && draw_once_in(way.loses_once_in)) || is_silent(stream->host_to->place);
  const auto from = stream->from.lock();
  if (is_lost) {
    if (now() - segment.sent > kMostUnacknowledged) {
      stream->segments.clear();
      if (from != nullptr) break_off(*from, ETIMEDOUT);
      return;
    }
    segment.arrives = now() + segment.resend + travel_time(way);
    segment.resend = std::min(2 * segment.resend, kLongestResend);
    return schedule(stream);
  }
  trace("arrive", static_cast<std::int64_t>(segment.bytes.size()), static_cast<std::int64_t>(segment.kind));
  if (is_gone) {  // the connection no longer exists there
    stream->segments.clear();
    if (from != nullptr) at(now() + travel_time(way), [from] { break_off(*from, ECONNRESET); });
    return;
  }
  auto taken = std::move(segment);
  stream->segments.pop_front();
  receive(*stream, *to, taken);
  if (!stream->segments.empty()) {
    auto& next = stream->segments.front();
    next.arrives = std::max(next.arrives, now());
    schedule(stream);
  }
}

void put(const std::shared_ptr<Stream>& stream, Segment segment) {
  segment.sent = now();
  segment.arrives = now() + travel_time(link(stream->host_from->place, stream->host_to->place));
  if (!stream->segments.empty()) segment.arrives = std::max(segment.arrives, stream->segments.back().arrives);
  stream->segments.push_back(std::move(segment));
  if (stream->segments.size() == 1) schedule(stream);
}

std::shared_ptr<Stream> make_stream(const std::shared_ptr<Socket>& from, const std::shared_ptr<Socket>& to) {
  auto stream = std::make_shared<Stream>();
  stream->from = from;
  stream->to = to;
  stream->host_from = from->host;
  stream->host_to = to->host;
  return stream;
}

void knock(const std::shared_ptr<Socket>& socket, int place, Time pause) {
  if (socket->is_closed || socket->state != Socket::State::Connecting || socket->error != 0) return;
  const auto& there = link(socket->host->place, place);
  const auto& back = link(place, socket->host->place);
  const auto listener = network().listeners[socket->peer_port].lock();
  if (there.is_cut || back.is_cut || listener == nullptr) {
    const bool answers = !there.is_cut && !back.is_cut && !is_silent(place);
    if (answers) return break_off(*socket, ECONNREFUSED);
    at(now() + pause, [=] { knock(socket, place, 2 * pause); });
    return;
  }
  const auto accepted = std::make_shared<Socket>();
  accepted->host = listener->host;
  accepted->state = Socket::State::Connected;
  accepted->port = listener->port;
  accepted->peer_port = socket->port;
  accepted->sending = make_stream(accepted, socket);
  socket->sending = make_stream(socket, accepted);
  listener->waiting.push_back(accepted);
  socket->state = Socket::State::Connected;
  trace("connect", socket->host->place, place);
  tell(*listener);
  tell(*socket);
}

int place_of_port(int port) {
  const auto found = network().listeners.find(port);
  const auto listener = found == network().listeners.end() ? nullptr : found->second.lock();
  return listener == nullptr ? -1 : listener->host->place;
}

// The addresses of places outlive the hosts that listen there.
std::map<int, int>& places() {
  static auto* const all = new std::map<int, int>;
  return *all;
}

Time deadline_of(int milliseconds) { return milliseconds < 0 ? kNever : now() + milliseconds * kMillisecond; }

}  // namespace

void boot(Host& host) { network().hosts[host.place] = &host; }
Link& link(int from, int to) { return network().links[{from, to}]; }
void set_socket_buffer(std::size_t bytes) { network().buffer = bytes; }

void crash(Host& host, bool is_silent) {
  host.is_alive = false;
  host.is_silent = is_silent;
  std::vector<std::shared_ptr<Socket>> own;
  for (const auto& socket : network().sockets)
    if (socket->host == &host) own.push_back(socket);
  std::erase_if(network().sockets, [&](const auto& socket) { return socket->host == &host; });
  for (const auto& socket : own) {
    if (socket->state == Socket::State::Listening) network().listeners.erase(socket->port);
    const auto stream = std::exchange(socket->sending, nullptr);
    break_off(*socket, ECONNRESET);
    for (const auto& waiting : socket->waiting)
      if (!is_silent) put(waiting->sending, {.kind = Segment::Kind::Reset});
    if (stream == nullptr) continue;
    if (is_silent) stream->segments.clear();
    else put(stream, {.kind = Segment::Kind::Reset});
  }
}

bool is_known(int file) { return find<File>(file) != nullptr; }
bool is_event(int file) { return find<Event>(file) != nullptr; }

int open_socket() {
  static Host somewhere;  // for programs with a single host
  const auto socket = std::make_shared<Socket>();
  socket->host = own_host() == nullptr ? &somewhere : own_host();
  return open(socket);
}

int open_event(unsigned value) {
  const auto event = std::make_shared<Event>();
  event->value = value;
  return open(event);
}

int open_epoll() { return open(std::make_shared<Epoll>()); }

int close_file(int file) {
  auto& place = network().files[static_cast<std::size_t>(file)];
  const auto closed = std::exchange(place, nullptr);
  for (const auto& other : network().files)
    if (auto* epoll = dynamic_cast<Epoll*>(other.get()); epoll != nullptr) epoll->files.erase(file);
  if (const auto socket = std::dynamic_pointer_cast<Socket>(closed); socket != nullptr) {
    std::erase(network().sockets, socket);
    for (const auto& waiting : socket->waiting) put(waiting->sending, {.kind = Segment::Kind::Reset});
    if (socket->state == Socket::State::Listening && place_of_port(socket->port) >= 0 &&
        network().listeners[socket->port].lock() == socket)
      network().listeners.erase(socket->port);
    if (socket->sending != nullptr && socket->error == 0)
      put(socket->sending, {.kind = socket->received.empty() ? Segment::Kind::End : Segment::Kind::Reset});
  }
  closed->number = -1;
  closed->is_closed = true;
  return system_call(SYS_close, file) == 0 ? 0 : -1;
}

int bind_socket(int file, int port) {
  const auto socket = find<Socket>(file);
  if (port == 0) port = network().next_port++;
  if (place_of_port(port) >= 0) return fail(EADDRINUSE);
  socket->port = port;
  places()[port] = socket->host->place;
  return 0;
}

int listen_at(int file) {
  const auto socket = find<Socket>(file);
  socket->state = Socket::State::Listening;
  if (socket->host->is_alive) network().listeners[socket->port] = socket;
  note_open(socket);
  return 0;
}

int connect_to(int file, int port) {
  const auto socket = find<Socket>(file);
  if (!socket->host->is_alive) return fail(ENETUNREACH);
  const auto place = places().find(port);
  if (place == places().end()) return fail(ECONNREFUSED);
  socket->state = Socket::State::Connecting;
  socket->port = network().next_port++;
  socket->peer_port = port;
  note_open(socket);
  const auto time = now() + 2 * travel_time(link(socket->host->place, place->second));
  at(time, [socket, place = place->second] { knock(socket, place, kSecond); });
  return fail(EINPROGRESS);
}

int accept_from(int file) {
  const auto listener = find<Socket>(file);
  if (listener->error != 0 || listener->waiting.empty()) return fail(EAGAIN);
  const auto socket = listener->waiting.front();
  listener->waiting.pop_front();
  const int number = open(socket);
  if (number >= 0) note_open(socket);
  return number;
}

int error_of(int file) {
  const auto socket = find<Socket>(file);
  return socket == nullptr ? 0 : socket->error;
}

void set_waiting(int file, bool waits) {
  if (const auto socket = find<Socket>(file); socket != nullptr) socket->waits = waits;
}

void set_patience(int file, Time patience) { find<Socket>(file)->patience = patience; }

bool wait_for(int file, short events) {
  const auto socket = find<Socket>(file);
  if (!socket->waits) return false;
  const bool has_end = events == POLLIN && socket->patience != kNever;
  pollfd asked{.fd = file, .events = events, .revents = 0};
  return poll_files(&asked, 1, has_end ? static_cast<int>(socket->patience / kMillisecond) : -1) == 1;
}

int port_of(int file, bool of_peer) {
  const auto socket = find<Socket>(file);
  return of_peer ? socket->peer_port : socket->port;
}

ssize_t receive(int file, const iovec* vectors, std::size_t count, bool peeks) {
  const auto socket = find<Socket>(file);
  if (socket->received.empty()) {
    if (socket->error != 0) return fail(socket->error);
    if (socket->has_ended) return 0;
    return fail(EAGAIN);
  }
  std::size_t most = socket->received.size();
  if (!peeks && draw_once_in(kSplit)) most = 1 + draw_below(most);
  std::size_t done = 0;
  for (std::size_t n = 0; n < count && done < most; ++n) {
    const auto part = std::min(vectors[n].iov_len, most - done);
    std::memcpy(vectors[n].iov_base, socket->received.data() + done, part);
    done += part;
  }
  if (peeks) return static_cast<ssize_t>(done);
  socket->received.erase(0, done);
  const auto peer = socket->sending == nullptr ? nullptr : socket->sending->to.lock();
  if (peer != nullptr) {
    const bool was_full = peer->unreceived >= network().buffer;
    peer->unreceived -= std::min(done, peer->unreceived);
    if (was_full) tell(*peer);
  }
  return static_cast<ssize_t>(done);
}

ssize_t send(int file, const iovec* vectors, std::size_t count) {
  const auto socket = find<Socket>(file);
  if (socket->error != 0) return fail(socket->error == ECONNRESET ? EPIPE : socket->error);
  if (socket->state != Socket::State::Connected) return fail(ENOTCONN);
  const auto room = network().buffer - std::min(network().buffer, socket->unreceived);
  if (room == 0) return fail(EAGAIN);
  std::string bytes;
  for (std::size_t n = 0; n < count && bytes.size() < room; ++n)
    bytes.append(static_cast<const char*>(vectors[n].iov_base), std::min(vectors[n].iov_len, room - bytes.size()));
  const auto size = bytes.size();
  socket->unreceived += size;
  put(socket->sending, {.kind = Segment::Kind::Bytes, .bytes = std::move(bytes)});
  return static_cast<ssize_t>(size);
}

ssize_t read_event(int file, void* to) {
  const auto event = find<Event>(file);
  if (event->value == 0) return fail(EAGAIN);
  std::memcpy(to, &event->value, sizeof event->value);
  event->value = 0;
  return sizeof event->value;
}

ssize_t write_event(int file, const void* from) {
  const auto event = find<Event>(file);
  std::uint64_t added = 0;
  std::memcpy(&added, from, sizeof added);
  event->value += added;
  tell(*event);
  return sizeof added;
}

int control_epoll(int epoll, int operation, int file, const epoll_event* event) {
  const auto set = find<Epoll>(epoll);
  if (set == nullptr) return fail(EBADF);
  if (operation == EPOLL_CTL_DEL) return set->files.erase(file) == 1 ? 0 : fail(ENOENT);
  const auto target = find<File>(file);
  if (target == nullptr) return fail(EBADF);
  set->files[file] = {*event, true};
  if (target->ready() != 0) wake_all(set.get());
  return 0;
}

int wait_for_epoll(int epoll, epoll_event* events, int most, int milliseconds) {
  const auto set = find<Epoll>(epoll);
  const auto deadline = deadline_of(milliseconds);
  for (;;) {
    int count = 0;
    for (auto& [number, registered] : set->files) {
      if (count == most) break;
      const auto file = find<File>(number);
      const auto ready = file->ready() & (registered.event.events | EPOLLERR | EPOLLHUP);
      const bool on_edge = (registered.event.events & EPOLLET) != 0;
      if (ready == 0 || (on_edge && !registered.is_new)) continue;
      registered.is_new = false;
      events[count] = registered.event;
      events[count++].events = ready;
    }
    if (count > 0 || now() >= deadline) return count;
    wait(set.get(), deadline, "waits for its connections");
  }
}

int poll_files(pollfd* files, std::size_t count, int milliseconds) {
  const auto deadline = deadline_of(milliseconds);
  for (;;) {
    int ready = 0;
    std::vector<const void*> keys;
    for (std::size_t n = 0; n < count; ++n) {
      const auto file = find<File>(files[n].fd);
      files[n].revents = 0;
      if (file == nullptr) continue;
      keys.push_back(file.get());
      const auto wanted = static_cast<std::uint32_t>(files[n].events) | POLLERR | POLLHUP;
      files[n].revents = static_cast<short>(file->ready() & wanted);  // with the bits of epoll
      ready += files[n].revents != 0;
    }
    if (ready > 0 || now() >= deadline) return ready;
    wait_for_any(std::move(keys), deadline, "polls");
  }
}

}  // namespace eindb::simulation
