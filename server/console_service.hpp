#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/console_client.hpp"
#include "server/http/http_message.hpp"
#include "server/monitoring/client_registry.hpp"

namespace eindb {

/// The console in the browser: its page, and what the page asks for.
///
///     GET  /, /console.js, ...                               the page (server/console/console_assets)
///     GET  /api/session                                      {"user":"ada","role":"admin"}, or {"user":null}
///     POST /api/login    {"user":..., "password":...}        the session's cookie
///     POST /api/logout   {}
///     POST /api/run      {"text":..., "rows":1000, "views":false}   events, as they come
///     POST /api/cancel   {"views":false}
///
/// Events are those of server/console/message_events.
///
/// A session has two clients of the server, so that the page can look at tensors while a statement runs: one for the
/// editor's statements, with their transactions and settings, and one for the page's views. A session ends by logout,
/// after half an hour without a request, or with one of its clients.
///
/// Requests come from any page that the browser shows: the host's name is checked against DNS rebinding, what changes
/// something needs a header that other pages cannot send, and the cookie is none that scripts or other sites' requests
/// have. All functions are for the endpoint's thread, unless they say otherwise.
class ConsoleService final : public HttpService {
 public:
  struct Options {
    std::vector<std::string> host_names;  ///< under which browsers may know the server, beside addresses and localhost
    std::uint16_t port = 0;               ///< of the endpoint, which the cookie's name has
    std::chrono::seconds session_time = std::chrono::minutes(30);  ///< without a request
  };
  /// Gives every client a number of its own and a secret. Thread-safe.
  using KeySource = std::function<CancelKey()>;

  /// Everything must outlive the service, which must outlive the workers' tasks.
  ConsoleService(boost::asio::io_context& io, ServerMonitor& monitor, ClientSessions& sessions, WorkerPool& workers,
                 KeySource keys, Options options);
  ~ConsoleService() override;

  std::size_t most_body_bytes(std::string_view method, std::string_view path) const override;
  bool has_path(std::string_view path) const override;
  void serve(const std::shared_ptr<HttpExchange>& exchange) override;

  /// Whether a statement or a login runs. Thread-safe.
  bool is_busy() const { return running_ > 0; }
  /// Stops a client of the console, as KILL asks. Thread-safe.
  void stop(const ClientRegistry::StopRequest& request);
  /// Cancels all statements. Thread-safe.
  void cancel_all();

 private:
  struct Session {
    std::string user;
    std::string role;
    std::shared_ptr<ConsoleClient> editor;
    std::shared_ptr<ConsoleClient> views;
    std::chrono::steady_clock::time_point last_used;

    bool is_busy() const { return editor->is_busy() || views->is_busy(); }
    bool has_ended() const { return editor->has_ended() || views->has_ended(); }
  };
  struct Login;
  using Exchange = std::shared_ptr<HttpExchange>;

  std::string cookie_name(bool encrypted) const;
  std::string cookie(const HttpRequest& request, const std::string& token, std::chrono::seconds age) const;
  Session* session_of(const HttpRequest& request);
  bool refuses(const Exchange& exchange) const;
  void serve_page(const Exchange& exchange) const;
  void tell_session(const Exchange& exchange);
  void log_in(const Exchange& exchange);
  void end_login(const std::shared_ptr<Login>& login);
  void log_out(const Exchange& exchange);
  void run(const Exchange& exchange);
  void cancel(const Exchange& exchange);
  void sweep();

  boost::asio::io_context& io_;
  std::atomic<std::size_t> running_{0};
  const ConsoleResources resources_;
  const KeySource keys_;
  const Options options_;
  boost::asio::steady_timer sweep_timer_;
  std::map<std::string, Session, std::less<>> sessions_;  // by the digests of their tokens
  bool sweeping_ = false;                                 // a timer is set for the next sweep
  std::size_t logins_ = 0;                                // that are not answered yet
};

}  // namespace eindb
