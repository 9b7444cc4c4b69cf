#include "server/console_client.hpp"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "common/check.hpp"
#include "common/memory_wait.hpp"
#include "engine/script.hpp"
#include "engine/statement_text.hpp"
#include "server/login/error_response.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;

constexpr const char* kEventLines = "application/x-ndjson";
constexpr std::string_view kEndedEvent =
    R"({"error":{"code":"57P01","message":"the session has ended","hint":"log in again"}})"
    "\n";

template <class F>
void post_to(asio::io_context& io, const F& f) noexcept {
  when_there_is_memory([&] { asio::post(io, f); });
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

ConsoleClient::ConsoleClient(const ConsoleResources& server, CancelKey key, const std::string& place,
                             std::string address)
    : server_(server),
      key_(key),
      monitor_(server.monitor, key.process, place),
      backend_(server.sessions, key, monitor_, std::move(address)) {
  backend_.tell_progress_by(*this);
}

std::optional<std::string> ConsoleClient::admit(const AdmittedClient& client) {
  const bool admitted = backend_.admit(client, frames_, out_);
  auto said = events_.translate(std::exchange(out_.buffer(), {}));
  ended_ = !admitted;
  return admitted ? std::nullopt : std::optional(std::move(said));
}

void ConsoleClient::run(std::string text, std::int32_t most_rows, const std::shared_ptr<HttpExchange>& exchange) {
  CHECK(!is_busy() && !ended_, "a client runs one text at a time");
  exchange_ = exchange;
  ++server_.running;
  take_turn([&] { begin(std::move(text), most_rows); });
}

template <class F>
void ConsoleClient::take_turn(F&& f) noexcept {
  try {
    std::forward<F>(f)();
  } catch (const std::exception&) {
    give_up();
  }
}

// The connection ends with the exchange.
void ConsoleClient::give_up() noexcept {
  end();
  if (exchange_ == nullptr) return;
  exchange_.reset();
  --server_.running;
}

void ConsoleClient::begin(std::string text, std::int32_t most_rows) {
  text_ = std::move(text);
  monitor_.received(text_.size());
  most_rows_ = most_rows;
  parts_.clear();
  next_part_ = 0;
  gone_ = false;
  std::size_t seen = 0;
  std::size_t position = 0;
  for (const auto& statement : split_statements(text_, kPostgresRules)) {
    position += characters_in(std::string_view(text_).substr(seen, statement.offset - seen));
    seen = statement.offset;
    parts_.push_back({statement.offset, statement.text.size(), position});
  }
  exchange_->begin({.content_type = kEventLines, .headers = {{"X-Content-Type-Options", "nosniff"}}});
  run_next();
}

void ConsoleClient::run_next() {
  if (next_part_ == parts_.size() || gone_ || ended_) return finish();
  const auto& part = parts_[next_part_];
  MessageWriter messages;
  messages.begin('P')
      .text({})
      .text(std::string_view(text_).substr(part.offset, part.size))
      .integer<std::int16_t>(0)
      .end();
  messages.begin('B')
      .text({})
      .text({})
      .integer<std::int16_t>(0)
      .integer<std::int16_t>(0)
      .integer<std::int16_t>(0)
      .end();
  messages.begin('D').bytes("P").text({}).end();
  messages.begin('E').text({}).integer(most_rows_).end();
  messages.empty('S');
  frames_.append(messages.buffer());
  put(events_.begin(next_part_++, part.position));
  work();
}

void ConsoleClient::work() {
  working_ = true;
  cancelled_ = gone_;
  const auto task = [self = shared_from_this()] {
    std::optional<Backend::Next> next;
    try {
      if (self->cancelled_) self->backend_.cancel_next();  // cancelled while it waited in the queue
      next = self->backend_.run(self->frames_, self->out_);
    } catch (const std::exception&) {  // there may be no memory even for an error
    }
    post_to(self->server_.io, [self, next] {
      self->working_ = false;
      if (!next) self->ended_ = true;
      self->take_turn([&] { self->answer(next.value_or(Backend::Next::Close)); });
    });
  };
  server_.workers.post(task, backend_.user());
}

void ConsoleClient::answer(Backend::Next next) {
  const auto messages = std::exchange(out_.buffer(), {});
  next_ = next;
  if (next != Backend::Next::Input && next != Backend::Next::Output) ended_ = true;
  try {
    put(events_.translate(messages));
  } catch (const ProtocolError&) {
    ended_ = true;
  }
  if (!writing_) go_on();
}

// Goes on once the browser has all events that there are.
void ConsoleClient::go_on() {
  if (working_ || !is_busy()) return;
  if (ended_) return finish();
  if (next_ == Backend::Next::Output) return work();
  if (events_.wants_rows() && !events_.is_over()) {
    MessageWriter no_rows;
    no_rows.begin('f').text("the console has no rows for it: COPY FROM a file instead").end();
    no_rows.empty('S');
    frames_.append(no_rows.buffer());
    return work();
  }
  if (events_.has_failed()) return finish();
  run_next();
}

void ConsoleClient::put(const std::string& events) {
  unsent_ += events;
  if (!writing_) write();
}

void ConsoleClient::write() {
  if (gone_) unsent_.clear();
  if (unsent_.empty() || exchange_ == nullptr) {
    interim_gone_ = true;
    return;
  }
  writing_ = true;
  monitor_.sent(unsent_.size());
  exchange_->write(std::exchange(unsent_, {}), [self = shared_from_this()](bool well) {
    self->writing_ = false;
    if (!well) {
      self->gone_ = true;
      self->cancel();
    }
    self->take_turn([&] {
      self->write();
      if (!self->writing_) self->go_on();
    });
  });
}

void ConsoleClient::finish() {
  if (writing_ || working_) return;
  const auto exchange = std::exchange(exchange_, nullptr);
  --server_.running;
  idle_since_ = Clock::now();
  std::string().swap(text_);
  if (gone_) return;
  const auto said = ended_ && !events_.has_failed() ? std::string(kEndedEvent) : std::string();
  const auto last = said + R"({"end":true,"transaction":")" + events_.transaction() + "\"}\n";
  exchange->write(last, [exchange](bool well) {
    if (well) exchange->end();
  });
}

void ConsoleClient::cancel() noexcept {
  cancelled_ = true;
  backend_.cancel();
}

void ConsoleClient::end() noexcept {
  ended_ = true;
  cancel();
}

void ConsoleClient::check_time(Clock::time_point now) {
  if (working_ && (gone_ || exchange_ == nullptr || exchange_->has_left())) {
    gone_ = true;
    cancel();
  }
  if (working_ || is_busy() || !idle_since_) return;
  if (const auto limit = backend_.idle_limit(); limit && now - *idle_since_ >= limit->time) {
    monitor_.abort(limit->sqlstate, limit->message);
    ended_ = true;
  }
}

bool ConsoleClient::is_ready() { return interim_gone_; }

void ConsoleClient::send(MessageWriter& out) {
  CHECK(interim_gone_, "what is told meanwhile goes when what was told before has gone");
  interim_gone_ = false;
  post_to(server_.io, [self = shared_from_this(), bytes = std::exchange(out.buffer(), {})] {
    if (self->working_) self->take_turn([&] { self->put(self->events_.translate(bytes)); });
  });
}

}  // namespace eindb
