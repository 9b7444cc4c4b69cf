// Arbitrary bytes as the headers of a request to the console: lines "name:value". Whatever stands in them, a request
// that names another host, or comes from another origin, must not pass for one of the console's page.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/http/request_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eindb;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  HttpRequest request{.method = "POST", .path = "/api/run"};
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto colon = std::min(line.find(':'), line.size());
    request.headers.insert_or_assign(std::string(line.substr(0, colon)),
                                     std::string(line.substr(std::min(colon + 1, line.size()))));
  }
  const auto host = request.header("host");
  // Names of hosts have letters: those that pass are localhost, the given one, or hexadecimal digits of an address.
  if (names_this_host(request, {"db"}) && host.find_first_of("gijkmnpqruvwyz/@") != std::string_view::npos)
    std::abort();
  if (is_from_own_page(request) && request.header("origin").starts_with("https:")) std::abort();
  if (const auto cookie = cookie_of(request, "a"); cookie && cookie->find(';') != std::string_view::npos) std::abort();
  has_json(request);
  return 0;
}
