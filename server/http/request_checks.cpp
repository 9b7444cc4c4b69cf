#include "server/http/request_checks.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

/// "localhost" for "localhost:8080", "::1" for "[::1]:8080"; empty if it is no host with or without a port.
std::string_view host_without_port(std::string_view host) {
  const bool bracketed = host.starts_with('[');
  const auto end = bracketed ? host.find(']') : host.find(':');
  const auto name = bracketed ? host.substr(1, end == std::string_view::npos ? 0 : end - 1) : host.substr(0, end);
  auto rest = end == std::string_view::npos ? std::string_view() : host.substr(bracketed ? end + 1 : end);
  if (rest.empty()) return bracketed && end == std::string_view::npos ? std::string_view() : name;
  if (!rest.starts_with(':')) return {};
  rest.remove_prefix(1);
  return std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; }) ? name : std::string_view();
}

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool names_this_host(const HttpRequest& request, const std::vector<std::string>& names) {
  const auto host = to_lower(host_without_port(request.header("host")));
  if (host.empty()) return false;
  if (host == "localhost") return true;
  // make_address() ends at a zero byte, and takes names of interfaces.
  if (host.find_first_not_of("0123456789abcdef.:") == std::string::npos) {
    boost::system::error_code no_address;
    boost::asio::ip::make_address(host, no_address);
    if (!no_address) return true;
  }
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return to_lower(name) == host; });
}

bool is_from_own_page(const HttpRequest& request) {
  if (request.header(kConsoleHeader).empty()) return false;
  const auto site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin") return false;
  const auto origin = request.header("origin");
  if (origin.empty()) return true;  // programs that are no browsers send none
  return to_lower(origin) == (request.encrypted ? "https://" : "http://") + to_lower(request.header("host"));
}

bool has_json(const HttpRequest& request) {
  const auto type = request.header("content-type");
  return to_lower(without_spaces(type.substr(0, type.find(';')))) == kJsonText;
}

std::optional<std::string_view> cookie_of(const HttpRequest& request, std::string_view name) {
  std::optional<std::string_view> value;
  for (auto rest = request.header("cookie"); !rest.empty();) {
    const auto end = std::min(rest.find(';'), rest.size());
    const auto cookie = without_spaces(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = cookie.find('=');
    if (equals == std::string_view::npos || cookie.substr(0, equals) != name) continue;
    if (value) return std::nullopt;
    value = cookie.substr(equals + 1);
  }
  return value;
}

}  // namespace eindb
