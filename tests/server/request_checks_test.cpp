#include "server/http/request_checks.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

HttpRequest request_with(std::string name, std::string value) {
  HttpRequest request{.method = "POST", .path = "/api/run"};
  request.headers.emplace(std::move(name), std::move(value));
  return request;
}

bool is_own_host(const std::string& host) { return names_this_host(request_with("host", host), {"db.example"}); }

TEST(RequestChecks, HostsAreAddressesLocalhostAndGivenNames) {
  for (const auto* host : {"127.0.0.1", "127.0.0.1:8080", "10.1.2.3:80", "[::1]", "[::1]:8080", "localhost",
                           "LocalHost:1", "db.example", "DB.Example:443"})
    EXPECT_TRUE(is_own_host(host)) << host;
  for (const auto* host :
       {"", ":", ":80", "evil", "db.example.evil", "xdb.example", "127.0.0.1.evil", "localhost.evil:80", "[::1", "[]",
        "[::1]x", "127.0.0.1:x", "a@127.0.0.1", "127.0.0.1, localhost", "localhost:1:2"})
    EXPECT_FALSE(is_own_host(host)) << host;
  EXPECT_FALSE(is_own_host(std::string("[::1\0evil]", 10))) << "a zero byte is no end";
  EXPECT_FALSE(is_own_host("[fe80::1%evil]")) << "interfaces have names";
  EXPECT_FALSE(names_this_host({.method = "GET", .path = "/"}, {}));
}

TEST(RequestChecks, OtherOriginsAreRefused) {
  auto request = request_with("host", "localhost:8080");
  EXPECT_FALSE(is_from_own_page(request));
  request.headers["x-eindb-console"] = "1";
  EXPECT_TRUE(is_from_own_page(request));
  request.headers["origin"] = "http://localhost:8080";
  EXPECT_TRUE(is_from_own_page(request));
  request.headers["sec-fetch-site"] = "same-origin";
  EXPECT_TRUE(is_from_own_page(request));
  request.headers["sec-fetch-site"] = "same-site";
  EXPECT_FALSE(is_from_own_page(request));
  request.headers.erase("sec-fetch-site");
  for (const auto* origin :
       {"null", "http://localhost", "http://localhost:8081", "https://localhost:8080", "http://evil"}) {
    request.headers["origin"] = origin;
    EXPECT_FALSE(is_from_own_page(request)) << origin;
  }
  request.encrypted = true;
  request.headers["origin"] = "https://localhost:8080";
  EXPECT_TRUE(is_from_own_page(request));
}

TEST(RequestChecks, JsonIsKnownByItsType) {
  for (const auto* type : {"application/json", "Application/JSON;charset=utf-8", "application/json ; x"})
    EXPECT_TRUE(has_json(request_with("content-type", type))) << type;
  for (const auto* type : {"", "text/plain", "application/jsonx", "text/plain; application/json"})
    EXPECT_FALSE(has_json(request_with("content-type", type))) << type;
}

TEST(RequestChecks, CookiesAreFoundOnce) {
  EXPECT_EQ(cookie_of(request_with("cookie", "a=1; b=2"), "b"), "2");
  EXPECT_EQ(cookie_of(request_with("cookie", "b="), "b"), "");
  EXPECT_EQ(cookie_of(request_with("cookie", "b=x=y"), "b"), "x=y");
  for (const auto* cookie : {"", ";", "=", "b", "bb=1", "b=1; b=1", "b=1;b=2", "a=b=1"})
    EXPECT_FALSE(cookie_of(request_with("cookie", cookie), "b").has_value()) << cookie;
}

}  // namespace
}  // namespace eindb
