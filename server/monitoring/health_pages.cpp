#include "server/monitoring/health_pages.hpp"

namespace eindb {
namespace {

constexpr unsigned kOk = 200;
constexpr unsigned kUnavailable = 503;
constexpr const char* kMetricsText = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace

std::optional<HttpAnswer> HealthPages::page(std::string_view path) {
  if (path == "/metrics") return HttpAnswer{kOk, kMetricsText, metrics()};
  if (path != "/health") return std::nullopt;
  const auto found = health();
  return HttpAnswer{found.is_well ? kOk : kUnavailable, kPlainText, found.text + "\n"};
}

}  // namespace eindb
