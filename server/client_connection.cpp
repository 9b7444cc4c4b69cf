#include "server/client_connection.hpp"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <type_traits>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "server/login/error_response.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = ClientConnection::Clock;

// The most bytes that are written to one client before other clients have their turn.
constexpr std::size_t kWriteBytes = std::size_t{256} << 10U;
// Buffer space kept for the next answer; a larger buffer is freed.
constexpr std::size_t kKeptAnswerBytes = 1024;
constexpr std::chrono::seconds kRefusalDelay{1};
// The time for the rest of a message that was refused.
constexpr std::chrono::seconds kRefusalLinger{5};

// Zero means no limit.
Clock::time_point after(std::chrono::milliseconds time) {
  return time == time.zero() ? Clock::time_point::max() : Clock::now() + time;
}

}  // namespace

ClientConnection::ClientConnection(ConnectionOwner& owner, const ConnectionResources& server, tcp::socket& socket,
                                   const std::string& place, std::string address, CancelKey key)
    : owner_(owner),
      server_(server),
      address_(std::move(address)),
      timer_(server.io),
      key_(key),
      monitor_(server.monitor, key.process, place),
      backend_(server.sessions, key, monitor_, address_),
      login_deadline_(after(server.sessions.limits.login)),
      channel_(std::move(socket)) {
  backend_.tell_progress_by(*this);
}

void ClientConnection::cancel() noexcept {
  cancelled_ = true;
  backend_.cancel();
}

void ClientConnection::leave() {
  if (doing_ == Doing::Greeting || doing_ == Doing::Refusing || doing_ == Doing::Lingering) close();
  else if (doing_ == Doing::Reading && may_leave()) expel(kShutdown, kShutdownMessage);
}

void ClientConnection::hurry(std::string_view message) {
  farewell_ = message;
  switch (doing_) {
    case Doing::Working: return cancel();
    case Doing::Reading: return expel(kShutdown, message);
    default: return close();
  }
}

void ClientConnection::check_time(Clock::time_point now) {
  if (doing_ == Doing::Working && (channel_.has_left() || !farewell_.empty())) cancel();
  if (doing_ == Doing::Working || doing_ == Doing::Refusing) return;
  const bool late = !in_session_ && now >= login_deadline_;
  if (!late && now < deadline_) return;
  if (doing_ != Doing::Reading) return close();
  if (late) return expel("57014", "the connection ends: it took too long to log in");
  if (const auto limit = backend_.idle_limit()) expel(limit->sqlstate, limit->message);
}

void ClientConnection::close() {
  if (std::exchange(doing_, Doing::Nothing) == Doing::Nothing) return;
  channel_.close();
  timer_.cancel();
  owner_.forget(key_.process);
}

void ClientConnection::read() { wait(Doing::Reading, Wait::Readable, &ClientConnection::take_bytes); }

void ClientConnection::wait(Doing doing, Wait what, void (ClientConnection::*next)()) {
  if (what == Wait::Never) return close();
  doing_ = doing;
  const auto readiness = what == Wait::Readable ? tcp::socket::wait_read : tcp::socket::wait_write;
  channel_.socket().async_wait(readiness, [self = shared_from_this(), doing, next](const error_code& error) {
    if (self->doing_ != doing) return;
    if (error) self->close();
    else self->take_turn([&] { (self.get()->*next)(); });
  });
}

void ClientConnection::give_up() noexcept {
  if (doing_ == Doing::Nothing) return;
  const bool makes_sense = written_ == 0 && interim_gone_ && next_ != Backend::Next::Encrypt;
  if (makes_sense) channel_.write(server_.out_of_memory);
  try {
    monitor_.abort(kOutOfMemory, kOutOfMemoryMessage);
  } catch (const std::exception&) {  // there may be no memory even for a line in the log
  }
  close();
}

template <class F, class Done>
void ClientConnection::work(F f, Done done) {
  doing_ = Doing::Working;
  cancelled_ = false;
  const auto task = [self = shared_from_this(), guard = asio::make_work_guard(server_.io), f, done] {
    std::optional<std::invoke_result_t<F, ClientConnection&>> result;
    try {
      if (self->cancelled_) self->backend_.cancel_next();  // cancelled while it waited in the queue
      result.emplace(f(*self));
    } catch (const std::exception&) {  // there may be no memory even for an error
    }
    post_surely(self->server_.io, [self, result, done] {
      if (!result) self->give_up();
      else self->take_turn([&] { done(*self, *result); });
    });
  };
  server_.workers.post(task, line());
}

void ClientConnection::take_bytes() {
  const auto got = channel_.read(server_.bytes);
  monitor_.received(got.bytes);
  if (got.bytes > 0) frames_.append({server_.bytes.data(), got.bytes});
  if (!frames_.ready())
    return wait(Doing::Reading, got.wait == Wait::None ? Wait::Readable : got.wait, &ClientConnection::take_bytes);
  if (backend_.blocks()) run_backend();
  else answer(backend_.run(frames_, out_));
}

void ClientConnection::run_backend() {
  work([](ClientConnection& self) { return self.backend_.run(self.frames_, self.out_); },
       [](ClientConnection& self, Backend::Next next) { self.answer(next); });
}

void ClientConnection::answer(Backend::Next next) {
  if (!in_session_ && backend_.in_session()) {
    in_session_ = true;
    owner_.note_session(address_);
  }
  if (const auto& key = backend_.cancel_requested()) owner_.cancel(*key, monitor_.address());
  if (!farewell_.empty() && next != Backend::Next::Close) {
    write_fatal(out_, kShutdown, farewell_);
    next = Backend::Next::Close;
  }
  CHECK(written_ == 0, "an answer is written when the one before it has gone");
  next_ = next;
  out_.buffer().insert(0, std::exchange(interim_, {}));
  interim_gone_ = true;
  if (next == Backend::Next::Refuse) return refuse();
  deadline_ = after(server_.sessions.limits.send);
  write();
}

bool ClientConnection::is_ready() {
  if (!interim_gone_) send_interim({});
  return interim_gone_;
}

void ClientConnection::send(MessageWriter& out) {
  CHECK(interim_gone_, "what is told meanwhile goes when what was told before has gone");
  interim_gone_ = false;
  send_interim(std::exchange(out.buffer(), {}));
}

void ClientConnection::send_interim(std::string bytes) {
  asio::post(server_.io, [self = shared_from_this(), more = std::move(bytes)] {
    if (self->doing_ != Doing::Working) return;
    auto& interim = self->interim_;
    interim += more;
    const auto put = self->channel_.write(interim);
    interim.erase(0, put.bytes);
    if (put.wait == Wait::Never) self->cancel();
    self->interim_gone_ = interim.empty();
  });
}

void ClientConnection::write() {
  CHECK(written_ <= out_.size(), "no more has gone than was written");
  const auto rest = std::string_view(out_.buffer()).substr(written_);
  const auto put = channel_.write(rest.substr(0, kWriteBytes));
  written_ += put.bytes;
  monitor_.sent(put.bytes);
  if (put.bytes > 0) deadline_ = after(server_.sessions.limits.send);
  if (put.bytes < rest.size())
    return wait(Doing::Writing, put.wait == Wait::None ? Wait::Writable : put.wait, &ClientConnection::write);
  forget_written();
  go_on();
}

void ClientConnection::forget_written() {
  auto& buffer = out_.buffer();
  buffer.clear();
  written_ = 0;
  if (buffer.capacity() > kKeptAnswerBytes && next_ != Backend::Next::Output) std::string().swap(buffer);
}

void ClientConnection::go_on() {
  switch (next_) {
    case Backend::Next::Input: break;
    case Backend::Next::Encrypt:
      CHECK(server_.tls.has_value(), "encryption is offered where there is a certificate");
      channel_.begin_tls(*server_.tls);
      return greet();
    case Backend::Next::Output:
    case Backend::Next::LogIn: return run_backend();
    default: return finish();
  }
  if (owner_.is_stopping() && may_leave()) return expel(kShutdown, kShutdownMessage);
  const auto limit = backend_.idle_limit();
  deadline_ = limit ? after(limit->time) : Clock::time_point::max();
  read();
}

void ClientConnection::finish() {
  if (frames_.pending() == 0) return close();
  frames_.clear();
  channel_.end_sending();
  deadline_ = after(kRefusalLinger);
  drop_bytes();
}

void ClientConnection::drop_bytes() {
  const auto what = channel_.drop(server_.bytes);
  wait(Doing::Lingering, what == Wait::None ? Wait::Readable : what, &ClientConnection::drop_bytes);
}

void ClientConnection::greet() {
  work([](ClientConnection& self) { return self.channel_.greet(); },
       [](ClientConnection& self, Wait what) {
         if (what != Wait::None) return self.wait(Doing::Greeting, what, &ClientConnection::greet);
         self.next_ = Backend::Next::Input;
         self.go_on();
       });
}

void ClientConnection::refuse() {
  doing_ = Doing::Refusing;
  timer_.expires_after(kRefusalDelay);
  timer_.async_wait([self = shared_from_this()](const error_code&) {
    if (self->doing_ != Doing::Refusing) return;
    self->next_ = Backend::Next::Close;
    self->deadline_ = after(self->server_.sessions.limits.send);
    self->take_turn([&] { self->write(); });
  });
}

void ClientConnection::expel(std::string_view sqlstate, std::string_view message) {
  if (sqlstate != kShutdown) monitor_.abort(sqlstate, message);
  doing_ = Doing::Writing;  // ends any other waiting
  error_code ignored;
  channel_.socket().cancel(ignored);
  write_fatal(out_, sqlstate, message);
  next_ = Backend::Next::Close;
  deadline_ = after(server_.sessions.limits.send);
  write();
}

}  // namespace eindb
