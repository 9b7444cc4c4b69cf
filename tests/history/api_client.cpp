// A program with several connections to a database, for history_test.py, controlled by standard input.
//
//     api_client DATABASE
//
// A line is "N open", "N close", or "N STATEMENT" for connection N. The answer is a line of tabs and values for each
// row, and then "ok", or "error CODE: MESSAGE" in one line.

#include <algorithm>
#include <eindb/eindb.hpp>
#include <iostream>
#include <map>
#include <string>

namespace {

std::string text_of(const eindb::Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "NULL";
}

class Client {
 public:
  explicit Client(std::string database) : database_(std::move(database)) {}

  void run(int number, const std::string& statement) {
    if (statement == "close") {
      connections_.erase(number);
      return;
    }
    auto& connection = connections_.try_emplace(number, database_).first->second;
    if (statement == "open") return;
    for (const auto& row : connection.execute(statement)) {
      for (std::size_t column = 0; column < row.size(); ++column) std::cout << '\t' << text_of(row.value(column));
      std::cout << '\n';
    }
  }

 private:
  std::string database_;
  std::map<int, eindb::Connection> connections_;
};

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Client client(argv[1]);
  int number = 0;
  for (std::string statement; std::cin >> number && std::getline(std::cin >> std::ws, statement);) {
    try {
      client.run(number, statement);
      std::cout << "ok" << std::endl;
    } catch (const eindb::Exception& error) {
      std::cout << "error " << to_string(error.code()) << ": " << in_one_line(error.message()) << std::endl;
    }
  }
  return 0;
}
