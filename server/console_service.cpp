#include "server/console_service.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "common/memory_wait.hpp"
#include "security/base64.hpp"
#include "security/digest.hpp"
#include "server/console/console_assets.hpp"
#include "server/http/request_checks.hpp"
#include "server/login/counted_address.hpp"
#include "server/login/error_response.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostConsoleSessions = 64;
constexpr std::size_t kMostLogins = 16;
constexpr std::size_t kMostLoginBytes = 4096;
constexpr std::size_t kMostRunBytes = std::size_t{1} << 20U;
constexpr std::int64_t kMostRowsOfPage = 1000000;
constexpr std::size_t kTokenBytes = 32;
// The interval at which waiting browsers and idle sessions are looked at.
constexpr std::chrono::milliseconds kConsoleSweep{200};
// The answer to a wrong password waits, as on other connections.
constexpr std::chrono::seconds kConsoleRefusalDelay{1};

constexpr unsigned kBadRequest = 400;
constexpr unsigned kUnauthorized = 401;
constexpr unsigned kForbidden = 403;
constexpr unsigned kNotFound = 404;
constexpr unsigned kNotAllowed = 405;
constexpr unsigned kConflict = 409;
constexpr unsigned kUnsupportedType = 415;
constexpr unsigned kMisdirected = 421;
constexpr unsigned kTooMany = 429;
constexpr unsigned kShuttingDown = 503;

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

// Of all that the service answers.
void add_security_headers(HttpAnswer& answer) {
  for (const auto& [name, value] : {std::pair<const char*, std::string_view>{"Content-Security-Policy", kPolicy},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"X-Frame-Options", "DENY"},
                                    {"Referrer-Policy", "no-referrer"},
                                    {"Cross-Origin-Opener-Policy", "same-origin"},
                                    {"Cross-Origin-Resource-Policy", "same-origin"}})
    answer.headers.emplace_back(name, value);
}

void answer(const std::shared_ptr<HttpExchange>& exchange, HttpAnswer what) {
  add_security_headers(what);
  exchange->answer(std::move(what));
}

// One line, whatever bytes its texts have.
std::string json_line(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

void answer_json(const std::shared_ptr<HttpExchange>& exchange, const OrderedJson& what, unsigned status = 200) {
  answer(exchange, {.status = status, .content_type = kJsonText, .body = json_line(what)});
}

void refuse_request(const std::shared_ptr<HttpExchange>& exchange, unsigned status, const std::string& message,
                    const std::string& hint = {}) {
  OrderedJson error{{"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  answer_json(exchange, {{"error", error}}, status);
}

// The object in a request's body; nullopt, with the answer given, if there is none.
std::optional<OrderedJson> object_in(const std::shared_ptr<HttpExchange>& exchange) {
  auto object = OrderedJson::parse(exchange->request().body, nullptr, false);
  if (object.is_object()) return object;
  refuse_request(exchange, kBadRequest, "the body is no object of JSON");
  return std::nullopt;
}

// A text of the object; nullopt if it is none that a message can have.
std::optional<std::string> text_in(const OrderedJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  auto text = found->get<std::string>();
  if (text.find('\0') != std::string::npos) return std::nullopt;
  return text;
}

bool wants_views(const OrderedJson& object) {
  const auto found = object.find("views");
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::string token_digest(std::string_view token) { return std::string(sha256(token).view()); }

const ConsoleAsset* asset_at(std::string_view path) {
  const auto assets = console_assets();
  const auto found = std::find_if(assets.begin(), assets.end(), [&](const auto& asset) { return asset.path == path; });
  return found == assets.end() ? nullptr : &*found;
}

bool is_api(std::string_view path) { return path.starts_with("/api/"); }

}  // namespace

// A login, from its request until its answer. A worker has it in between.
struct ConsoleService::Login {
  Login(const Exchange& asked, ClientSessions& sessions, const std::string& address, asio::io_context& io)
      : exchange(asked), handshake(sessions, address), delay(io) {}

  Exchange exchange;
  PlainLogin given;
  ClientHandshake handshake;  // has the throttle's refusal until the answer
  asio::steady_timer delay;
  std::shared_ptr<ConsoleClient> editor;
  std::shared_ptr<ConsoleClient> views;
  bool wrong_password = false;
  std::optional<std::string> failure;  // an event; nullopt: the user is let in

  void check() {
    MessageWriter out;
    auto next = ClientHandshake::Next::Close;
    try {
      next = handshake.log_in_by(given, out);
    } catch (const ProtocolError& error) {
      write_fatal(out, error.sqlstate(), error.what());
    }
    wipe(given.password);
    if (next != ClientHandshake::Next::Admit) {
      wrong_password = next == ClientHandshake::Next::Refuse;
      editor->monitor().introduce(given.user);
      editor->monitor().refuse_login(handshake.refusal_reason());
      failure = MessageEvents().translate(out.buffer());
      return;
    }
    auto admitted = handshake.admitted();
    admitted.database = "eindb";
    admitted.parameters.set("application_name", "eindb console");
    admitted.parameters.set("progress_notices", "on");
    failure = editor->admit(admitted);
    if (failure) return;
    admitted.parameters.set("application_name", "eindb console: views");
    failure = views->admit(admitted);
  }
};

ConsoleService::ConsoleService(asio::io_context& io, ServerMonitor& monitor, ClientSessions& sessions,
                               WorkerPool& workers, KeySource keys, Options options)
    : io_(io),
      resources_{io, monitor, sessions, workers, running_},
      keys_(std::move(keys)),
      options_(std::move(options)),
      sweep_timer_(io) {}

ConsoleService::~ConsoleService() = default;

std::size_t ConsoleService::most_body_bytes(std::string_view method, std::string_view path) const {
  if (method != "POST" || !is_api(path)) return 0;
  return path == "/api/run" ? kMostRunBytes : kMostLoginBytes;
}

bool ConsoleService::has_path(std::string_view path) const {
  return path == "/" || is_api(path) || asset_at(path) != nullptr;
}

void ConsoleService::serve(const Exchange& exchange) {
  if (!sessions_.empty() && !sweeping_) sweep();  // memory was short at the last one
  const auto& request = exchange->request();
  if (!names_this_host(request, options_.host_names))
    return refuse_request(exchange, kMisdirected, "this server is not known under the name of the request",
                          "go to it by its address, or say --http-name NAME when it starts");
  if (!is_api(request.path) || request.path == "/api/session") {
    if (request.method != "GET" && request.method != "HEAD")
      return answer(exchange, {.status = kNotAllowed,
                               .content_type = kPlainText,
                               .body = "Method Not Allowed\n",
                               .headers = {{"Allow", "GET, HEAD"}}});
    return is_api(request.path) ? tell_session(exchange) : serve_page(exchange);
  }
  constexpr std::array<std::pair<std::string_view, void (ConsoleService::*)(const Exchange&)>, 4> kCalls{
      {{"/api/login", &ConsoleService::log_in},
       {"/api/logout", &ConsoleService::log_out},
       {"/api/run", &ConsoleService::run},
       {"/api/cancel", &ConsoleService::cancel}}};
  for (const auto& [path, call] : kCalls) {
    if (path != request.path) continue;
    if (!refuses(exchange)) (this->*call)(exchange);
    return;
  }
  refuse_request(exchange, kNotFound, "there is nothing at this path");
}

// Whether a request that changes something is refused, with the answer given.
bool ConsoleService::refuses(const Exchange& exchange) const {
  const auto& request = exchange->request();
  if (request.method != "POST") {
    answer(exchange, {.status = kNotAllowed,
                      .content_type = kPlainText,
                      .body = "Method Not Allowed\n",
                      .headers = {{"Allow", "POST"}}});
  } else if (!is_from_own_page(request)) {
    refuse_request(exchange, kForbidden, "the request does not come from the console's own page");
  } else if (!has_json(request)) {
    refuse_request(exchange, kUnsupportedType, "the body is not application/json");
  } else if (!request.encrypted && !request.peer.is_loopback()) {
    refuse_request(exchange, kForbidden, "the console is reached from other machines by https alone",
                   "start the server with --tls-cert and --tls-key");
  } else if (resources_.monitor.stopping) {
    refuse_request(exchange, kShuttingDown, "the server is being shut down");
  } else {
    return false;
  }
  return true;
}

void ConsoleService::serve_page(const Exchange& exchange) const {
  const auto* const asset = asset_at(exchange->request().path);
  if (asset == nullptr)
    return answer(exchange, {.status = kNotFound,
                             .content_type = kPlainText,
                             .body = "This build of eindb has no console: it was built without npm. Configure with "
                                     "-DEINDB_CONSOLE=ON to have it.\nHere are /health and /metrics.\n"});
  answer(exchange, {.content_type = std::string(asset->content_type),
                    .body = std::string(asset->bytes),
                    .headers = {{"Content-Encoding", "gzip"}, {"Cache-Control", "no-cache"}}});
}

// Cookies do not know ports, so that servers on one machine would have the same without it.
std::string ConsoleService::cookie_name(bool encrypted) const {
  return (encrypted ? "__Host-eindb_" : "eindb_") + std::to_string(options_.port);
}

std::string ConsoleService::cookie(const HttpRequest& request, const std::string& token,
                                   std::chrono::seconds age) const {
  auto text = cookie_name(request.encrypted) + "=" + token + "; Path=/; HttpOnly; SameSite=Strict";
  if (age == age.zero()) text += "; Max-Age=0";
  return request.encrypted ? text + "; Secure" : text;
}

ConsoleService::Session* ConsoleService::session_of(const HttpRequest& request) {
  const auto token = cookie_of(request, cookie_name(request.encrypted));
  if (!token) return nullptr;
  const auto found = sessions_.find(token_digest(*token));
  if (found == sessions_.end() || found->second.has_ended()) return nullptr;
  found->second.last_used = std::chrono::steady_clock::now();
  return &found->second;
}

void ConsoleService::tell_session(const Exchange& exchange) {
  const auto* const session = session_of(exchange->request());
  if (session == nullptr) return answer_json(exchange, {{"user", nullptr}});
  answer_json(exchange,
              {{"user", session->user}, {"role", session->role}, {"session", session->editor->key().process}});
}

void ConsoleService::log_in(const Exchange& exchange) {
  const auto object = object_in(exchange);
  if (!object) return;
  auto user = text_in(*object, "user");
  auto password = text_in(*object, "password");
  if (!user || user->empty() || !password)
    return refuse_request(exchange, kBadRequest, "a user and a password are wanted");
  if (logins_ >= kMostLogins || sessions_.size() >= kMostConsoleSessions)
    return refuse_request(exchange, kTooMany, "the console has as many sessions as it takes", "try again later");
  const auto& request = exchange->request();
  const auto address = counted_address(request.peer);
  const auto login = std::make_shared<Login>(exchange, resources_.sessions, address, io_);
  login->given = {.user = *std::move(user),
                  .password = *std::move(password),
                  .encrypted = request.encrypted,
                  .is_local = request.peer.is_loopback()};
  login->editor = std::make_shared<ConsoleClient>(resources_, keys_(), request.place, address);
  login->views = std::make_shared<ConsoleClient>(resources_, keys_(), request.place, address);
  const auto check = [this, login] {
    try {
      login->check();
    } catch (...) {
      login->failure = when_there_is_memory([] {
        const auto error = caught_error("this login");
        return json_line(OrderedJson{{"error", {{"message", error.message()}, {"hint", error.hint()}}}});
      });
    }
    when_there_is_memory([&] {
      asio::post(io_, [this, login] {
        if (!login->wrong_password) return end_login(login);
        login->delay.expires_after(kConsoleRefusalDelay);
        login->delay.async_wait([this, login](const boost::system::error_code& /*error*/) { end_login(login); });
      });
    });
  };
  resources_.workers.post(check);
  ++logins_;
  ++running_;
}

void ConsoleService::end_login(const std::shared_ptr<Login>& login) {
  --logins_;
  --running_;
  const auto& exchange = login->exchange;
  if (login->failure)
    return answer(exchange, {.status = kUnauthorized, .content_type = kJsonText, .body = *login->failure});
  auto token = base64_encode(random_bytes(kTokenBytes));
  // As the cookie takes it, and the form of URLs.
  std::replace(token.begin(), token.end(), '+', '-');
  std::replace(token.begin(), token.end(), '/', '_');
  std::erase(token, '=');
  const std::string role(describe(login->handshake.admitted().role));
  sessions_.emplace(token_digest(token), Session{.user = login->given.user,
                                                 .role = role,
                                                 .editor = login->editor,
                                                 .views = login->views,
                                                 .last_used = std::chrono::steady_clock::now()});
  if (!sweeping_) sweep();
  HttpAnswer welcome{
      .content_type = kJsonText,
      .body =
          OrderedJson{{"user", login->given.user}, {"role", role}, {"session", login->editor->key().process}}.dump()};
  welcome.headers = {{"Set-Cookie", cookie(exchange->request(), token, options_.session_time)}};
  answer(exchange, std::move(welcome));
}

void ConsoleService::log_out(const Exchange& exchange) {
  if (auto* const session = session_of(exchange->request())) {
    session->editor->end();
    session->views->end();
  }
  HttpAnswer farewell{.content_type = kJsonText, .body = "{\"user\":null}\n"};
  farewell.headers = {{"Set-Cookie", cookie(exchange->request(), "", std::chrono::seconds(0))}};
  answer(exchange, std::move(farewell));
}

void ConsoleService::run(const Exchange& exchange) {
  auto* const session = session_of(exchange->request());
  if (session == nullptr) return refuse_request(exchange, kUnauthorized, "nobody is logged in", "log in");
  const auto object = object_in(exchange);
  if (!object) return;
  auto text = text_in(*object, "text");
  if (!text) return refuse_request(exchange, kBadRequest, "there is no text of statements, or a zero byte in it");
  const auto found = object->find("rows");
  const auto rows = found != object->end() && found->is_number_integer() ? found->get<std::int64_t>() : 1000;
  if (rows < 1 || rows > kMostRowsOfPage)
    return refuse_request(exchange, kBadRequest, "the number of rows is from 1 to " + std::to_string(kMostRowsOfPage));
  const auto& client = wants_views(*object) ? session->views : session->editor;
  if (client->is_busy())
    return refuse_request(exchange, kConflict, "a statement of this session runs", "wait for it, or cancel it");
  client->run(*std::move(text), static_cast<std::int32_t>(rows), exchange);
}

void ConsoleService::cancel(const Exchange& exchange) {
  auto* const session = session_of(exchange->request());
  if (session == nullptr) return refuse_request(exchange, kUnauthorized, "nobody is logged in", "log in");
  const auto object = object_in(exchange);
  if (!object) return;
  const auto& client = wants_views(*object) ? session->views : session->editor;
  const bool runs = client->is_busy();
  if (runs) client->cancel();
  resources_.monitor.metrics.cancel_requests.add();
  answer_json(exchange, {{"cancelled", runs}});
}

// Ends sessions that nobody uses, and statements that nobody waits for.
void ConsoleService::sweep() {
  sweeping_ = false;
  const auto now = std::chrono::steady_clock::now();
  for (auto here = sessions_.begin(); here != sessions_.end();) {
    auto& session = here->second;
    session.editor->check_time(now);
    session.views->check_time(now);
    if (session.is_busy()) session.last_used = now;
    else if (resources_.monitor.stopping || now - session.last_used >= options_.session_time) session.editor->end();
    if (session.has_ended() && !session.is_busy()) here = sessions_.erase(here);
    else ++here;
  }
  if (sessions_.empty()) return;
  sweep_timer_.expires_after(kConsoleSweep);
  sweep_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) sweep();
  });
  sweeping_ = true;
}

void ConsoleService::stop(const ClientRegistry::StopRequest& request) {
  when_there_is_memory([&] {
    asio::post(io_, [this, request] {
      for (auto& [token, session] : sessions_) {
        for (const auto& client : {session.editor, session.views}) {
          if (client->key().process != request.target) continue;
          if (request.what == ClientRegistry::What::Connection) client->end();
          else client->cancel();
        }
      }
    });
  });
}

void ConsoleService::cancel_all() {
  when_there_is_memory([&] {
    asio::post(io_, [this] {
      for (auto& [token, session] : sessions_) {
        session.editor->cancel();
        session.views->cancel();
      }
    });
  });
}

}  // namespace eindb
