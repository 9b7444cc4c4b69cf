#include "shell/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <system_error>

#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/settings/settings.hpp"
#include "shell/build_facts.hpp"

namespace eindb {
namespace {

/// sqlite3's options have one dash, but CLI11 would read "-csv" as -c with the value "sv".
std::vector<std::string> with_double_dashes(int argc, const char* const* argv) {
  constexpr std::array kOptions = {"-bail",     "-box",          "-command", "-csv",       "-echo", "-file",
                                   "-header",   "-help",         "-json",    "-jsonlines", "-line", "-list",
                                   "-markdown", "-memory-limit", "-mode",    "-noheader",  "-norc", "-readonly",
                                   "-tensor",   "-threads",      "-timer",   "-version"};
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (auto& argument : arguments) {
    if (argument == "--") break;
    const auto name = argument.substr(0, argument.find('='));
    if (std::find(kOptions.begin(), kOptions.end(), name) != kOptions.end()) argument.insert(0, "-");
  }
  return arguments;
}

constexpr std::int64_t kFewestBytes = 1024;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30U;  // PostgreSQL's limit

PrintMode checked_mode(const std::string& name) {
  const auto mode = parse_print_mode(name);
  if (!mode)
    throw CLI::ValidationError("--mode", "there is no mode '" + name + "'; the modes are " + print_mode_list());
  return *mode;
}

/// The values of -c and -f in the order of the arguments; CLI11 collects them by option.
std::vector<CommandLine::Job> jobs_in_order(const CLI::App& app, const CLI::Option* commands,
                                            const CLI::Option* files) {
  std::vector<CommandLine::Job> jobs;
  std::size_t next_command = 0;
  std::size_t next_file = 0;
  for (const auto* option : app.parse_order()) {
    if (option == commands) jobs.push_back({.is_file = false, .text = commands->results().at(next_command++)});
    if (option == files) jobs.push_back({.is_file = true, .text = files->results().at(next_file++)});
  }
  return jobs;
}

// The words for values in the usage, from which the completions of shells are made too: see packaging/usage_files.py.
constexpr const char* kFile = "FILE";
constexpr const char* kFolder = "FOLDER";
constexpr const char* kWord = "WORD";  // one of those that the description lists

/// An option whose value is a path.
CLI::Option* add_path(CLI::App& app, const std::string& name, std::string& path, const std::string& description,
                      const char* kind = kFile) {
  return app.add_option(name, path, description)->type_name(kind);
}

void add_tls(CLI::App& server, ServeCommand& serve) {
  add_path(server, "--tls-cert", serve.tls.certificate, "certificate in PEM form, for clients that ask for TLS");
  add_path(server, "--tls-key", serve.tls.key, "its key, which nobody else can read");
  add_path(server, "--tls-ca", serve.tls.authority, "clients must show a certificate that this one has signed");
  server.add_flag("--tls-required", serve.requires_tls, "let nobody in without TLS");
}

constexpr int kSeconds = 1000;
constexpr int kMilliseconds = 1;

/// `unit`: milliseconds per unit of a number without one. `Time` may also be an optional duration.
template <class Time>
CLI::Option* add_time(CLI::App& server, const std::string& name, Time& time, int unit, const std::string& description) {
  const auto read = [&time, unit, name](const std::string& text) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const bool plain = text.find_first_not_of("0123456789.") == std::string::npos;
    const auto parsed = parse_duration_ms(text);
    const auto factor = plain ? unit : 1;
    if (!parsed || *parsed > kMost / factor)
      throw CLI::ValidationError(name, "'" + text + "' is no time, as 30s, 5min or 1h are");
    time = std::chrono::milliseconds(*parsed * factor);
  };
  return server.add_option_function<std::string>(name, read, description)->type_name("TIME");
}

void add_bytes(CLI::App& server, const std::string& name, std::size_t& bytes, const std::string& description) {
  const auto read = [&bytes, name](const std::string& text) {
    const auto parsed = parse_byte_size(text);
    if (!parsed || *parsed < kFewestBytes || *parsed > kMostBytes)
      throw CLI::ValidationError(name, "'" + text + "' is no size from 1KiB to 1GiB, as 16MiB is");
    bytes = static_cast<std::size_t>(*parsed);
  };
  server.add_option_function<std::string>(name, read, description)->type_name("SIZE");
}

/// An option whose value is any number of bytes, 0 included.
void add_amount(CLI::App& app, const std::string& name, std::int64_t& bytes, const std::string& description) {
  const auto read = [&bytes, name](const std::string& text) {
    const auto parsed = parse_byte_size(text);
    if (!parsed || *parsed < 0) throw CLI::ValidationError(name, "'" + text + "' is no size, as 16MiB or 0 are");
    bytes = *parsed;
  };
  app.add_option_function<std::string>(name, read, description)->type_name("SIZE");
}

void add_limits(CLI::App& server, ServeCommand& serve) {
  auto& limits = serve.limits;
  server.add_option("--max-connections", serve.max_connections, "clients at a time")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_bytes(server, "--max-message-bytes", limits.message_bytes, "of one message, and so of one value; 1GiB without");
  add_bytes(server, "--max-statement-bytes", limits.statement_bytes, "of a statement's text; 16MiB without");
  add_time(server, "--login-timeout", limits.login, kSeconds, "until a client is logged in; 60s without");
  add_time(server, "--send-timeout", limits.send, kSeconds, "while a client takes no answer; 5min without");
  add_time(server, "--idle-timeout", limits.idle.session, kMilliseconds,
           "between statements, unless the client sets idle_session_timeout; never without");
  add_time(server, "--idle-in-transaction-timeout", limits.idle.in_transaction, kMilliseconds,
           "the same in a transaction: idle_in_transaction_session_timeout; never without");
  add_time(server, "--statement-timeout", serve.statement_timeout, kMilliseconds,
           "of each statement, unless the client sets statement_timeout; never without");
  add_time(server, "--read-only-statement-timeout", serve.read_only_statement_timeout, kMilliseconds,
           "the same for READ ONLY users, 0 for never; without, --statement-timeout if that is given, or 5min");
  add_time(server, "--shutdown-grace", serve.shutdown_grace, kSeconds,
           "for statements that run when the server is to end; 10s without");
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

/// An option whose value is one of the words that `description` lists.
template <class Value>
CLI::Option* add_word(CLI::App& app, const std::string& name, Value& value, const std::map<std::string, Value>& words,
                      const std::string& description) {
  return app.add_option(name, value, description)
      ->transform(CLI::CheckedTransformer(words).description(""))
      ->type_name(kWord);
}

/// Options for the log of a long-running program.
void add_log(CLI::App& program, LogOptions& log) {
  static const std::map<std::string, LogFormat> kFormats{{"text", LogFormat::Text}, {"json", LogFormat::Json}};
  static const std::map<std::string, LogLevel> kLevels{{"debug", LogLevel::Debug},
                                                       {"info", LogLevel::Info},
                                                       {"warning", LogLevel::Warning},
                                                       {"error", LogLevel::Error},
                                                       {"off", LogLevel::Off}};
  add_path(program, "--log", log.file, "file that the log is appended to; standard error without");
  add_word(program, "--log-format", log.format, kFormats, "text or json");
  add_word(program, "--log-level", log.level, kLevels, "debug, info, warning, error or off");
}

/// Options for the status pages of a long-running program.
void add_http(CLI::App& program, std::string& http, bool& allow_remote) {
  program.add_option("--http", http,
                     "ADDRESS:PORT of /health and /metrics, and of a server's console; port 0 is one that is free");
  program.add_flag("--http-allow-remote", allow_remote,
                   "let --http listen where other machines reach it, without a password");
}

/// Options of `serve` for its log and status pages.
void add_operation(CLI::App& server, ServeCommand& serve) {
  static const std::map<std::string, StatementLog> kStatements{
      {"none", StatementLog::None}, {"slow", StatementLog::Slow}, {"all", StatementLog::All}};
  auto& log = serve.log;
  add_http(server, serve.http, serve.http_allow_remote);
  server.add_option("--http-name", serve.http_names,
                    "a NAME under which browsers reach the console, beside addresses and localhost; may be repeated");
  add_log(server, log);
  auto* const statements = add_word(server, "--log-statements", log.statements, kStatements, "none, slow or all");
  const auto wants_slow_ones = [&log, statements](const std::string&) {
    if (statements->count() == 0) log.statements = StatementLog::Slow;
  };
  add_time(server, "--slow-statement", log.slow_statement, kMilliseconds,
           "from which on a statement is slow, and logged; 1s without")
      ->each(wants_slow_ones);
}

/// Options of the shell and of `serve` for workers.
CLI::Option* add_cluster(CLI::App& app, ClusterCommand& cluster) {
  auto* const workers =
      app.add_option("--workers", cluster.workers, "the workers of the database's cluster: HOST:PORT,HOST:PORT,...");
  add_path(app, "--secret-file", cluster.trust.secret_file,
           "file whose first line all nodes of the cluster know; nobody else can read it");
  app.add_flag("--insecure", cluster.trust.insecure,
               "no secret: every program on this machine may read and remove the tiles of its workers");
  add_time(app, "--heartbeat", cluster.heartbeat, kSeconds,
           "how often nodes of the cluster say that they are there; one that misses three is lost; 1s without");
  add_amount(app, "--move-rate", cluster.moves.bytes_per_second,
             "bytes a second of tiles that move between workers in the background; 0: none do; 64MiB without");
  add_time(app, "--replace-after", cluster.moves.missed_after, kSeconds,
           "after which other workers get copies of the tiles of one that is away; 5min without");
  add_amount(app, "--balance-above", cluster.moves.least_imbalance,
             "by how much a worker's tiles have to be below the mean to be balanced; 64MiB without");
  app.add_option(
         "--standby", cluster.standbys,
         "workers that keep a copy of the database's file, from which eindb promote makes it anew: HOST:PORT,...")
      ->needs(workers);
  app.add_flag("--tcp-only", cluster.tcp_only,
               "data goes over TCP between nodes of one host, too, instead of sockets of the host");
  add_path(app, "--cluster-tls-cert", cluster.trust.tls.certificate, "certificate in PEM form, for workers");
  add_path(app, "--cluster-tls-key", cluster.trust.tls.key, "its key, which nobody else can read");
  add_path(app, "--cluster-tls-ca", cluster.trust.tls.authority, "who has signed the certificates of all nodes");
  return workers;
}

/// Options of the shell for MPI; returns the flag.
CLI::Option* add_mpi(CLI::App& app, MpiCommand& mpi, CLI::Option* workers) {
  auto* const flag = app.add_flag("--mpi")->description(
      "run in all processes that mpirun has started: rank 0 is the shell, the others its workers");
  flag->excludes(workers);
  add_path(app, "--data", mpi.data, "with --mpi, folder of the workers' directories; DATABASE.workers without", kFolder)
      ->needs(flag);
  return flag;
}

CLI::App* add_worker(CLI::App& app, WorkerCommand& worker) {
  auto* program = app.add_subcommand("worker", "keep tiles of a cluster's tensors, and compute with them");
  program->fallthrough();
  program
      ->add_option("--listen", worker.listen,
                   "HOST:PORT where coordinators and other workers reach it; port 0 is one that is free")
      ->capture_default_str();
  add_path(*program, "--data", worker.data, "directory of its tiles, made if it is not there", kFolder)->required();
  add_time(*program, "--disk-timeout", worker.disk_timeout, kSeconds,
           "a disk that does not get on for so long hangs, and the worker is left out: 3s without");
  add_amount(*program, "--scrub-rate", worker.scrub_rate,
             "bytes a second of tiles whose checksums are verified in the background; 0: none are; 4MiB without");
  add_path(*program, "--tls-cert", worker.trust.tls.certificate, "certificate in PEM form");
  add_path(*program, "--tls-key", worker.trust.tls.key, "its key, which nobody else can read");
  add_path(*program, "--tls-ca", worker.trust.tls.authority, "who has signed the certificates of all nodes");
  program->add_option("--disk-limit", worker.disk_limit,
                      "most that its data may take of the disk, as in 500GB; what the disk has without");
  add_http(*program, worker.http, worker.http_allow_remote);
  add_log(*program, worker.log);
  return program;
}

bool is_file(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

/// Whether an argument is a statement rather than the name of a file.
bool is_statement(const std::string& argument) {
  if (argument.find_first_of(" \t\n;") == std::string::npos || is_file(argument)) return false;
  static constexpr std::array kWords = {"ALTER",  "BEGIN",  "COPY",    "CREATE", "DELETE", "DESCRIBE",
                                        "DROP",   "EINSUM", "EXPLAIN", "INSERT", "PRAGMA", "REPEAT",
                                        "SELECT", "SET",    "SHOW",    "UPDATE", "VALUES", "WITH"};
  const auto word = to_upper(argument.substr(0, argument.find_first_of(" \t\n;(")));
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

constexpr std::string_view kInMemory = ":memory:";

std::string how_to_run(const std::string& statement, const std::string& database) {
  return "'" + statement + "' is a statement, which stands after -c:\n  eindb " +
         (database == kInMemory ? "" : database + " ") + "-c \"" + statement + "\"";
}

/// The command that a name without an ending most likely means.
std::optional<std::string> misspelt_command(const std::string& name) {
  static constexpr std::array<std::string_view, 5> kCommands = {"serve", "worker", "calibrate", "take-over", "promote"};
  if (name.find_first_of("./:") != std::string::npos) return std::nullopt;
  return name == "server" ? "serve" : nearest_name(name, kCommands);
}

/// Refuses names of databases that are something else in all likelihood. A file of such a name can be opened by a path,
/// and one that is there already by its name.
void refuse_as_database(const CLI::App& app, const std::string& name) {
  if (is_statement(name)) throw CLI::ValidationError("DATABASE", how_to_run(name, ":memory:"));
  if (is_file(name)) return;
  if (const auto command = misspelt_command(name))
    throw CLI::ValidationError("DATABASE", "there is no command " + name + ": did you mean " + *command +
                                               "? a database of that name is opened as ./" + name);
  if (name != "help" && name != "version") return;
  throw CLI::ValidationError("DATABASE", "there is no command " + name + ": " + app.get_name() + " --" + name +
                                             " is one; a database of that name is opened as ./" + name);
}

}  // namespace

std::optional<CommandLine> CommandLine::parse(int argc, const char* const* argv, int& status) {
  CommandLine line;
  ServeCommand serve;
  WorkerCommand worker;
  MpiCommand mpi;
  CLI::App app("A database for tensors. Without -c or -f, statements are read from standard input.", "eindb");
  std::vector<std::string> commands;
  std::vector<std::string> files;
  add_path(app, "DATABASE", line.database, "file of the database, made if it is not there")->capture_default_str();
  const auto* command_option =
      app.add_option("-c,--command", commands, "run these statements and leave; may be repeated")
          ->allow_extra_args(false);
  const auto* file_option =
      app.add_option("-f,--file", files, "run the statements of a file and leave; may be repeated")
          ->allow_extra_args(false)
          ->type_name(kFile);

  const auto set_mode = [&](const std::string& name) { line.settings.mode = checked_mode(name); };
  app.add_option_function<std::string>(
         "--mode", set_mode, "box (on a terminal), csv (elsewhere), list, json, jsonlines, markdown, line, tensor")
      ->type_name(kWord);
  for (const auto name : print_mode_names()) {
    app.add_flag_callback(
        "--" + std::string(name), [&, name] { set_mode(std::string(name)); }, "as --mode " + std::string(name));
  }
  app.add_flag_callback(
      "--header", [&] { line.settings.headers = true; }, "print names of columns (the default)");
  app.add_flag_callback(
      "--noheader", [&] { line.settings.headers = false; }, "print no names of columns");
  app.add_flag("--echo", line.settings.echo, "print statements before they run");
  app.add_flag_callback(
      "--norc", [&] { line.runs_start_file = false; }, "do not run ~/.eindbrc, which interactive sessions begin with");
  app.add_flag("--timer", line.settings.timer, "print how long statements take, on standard error");
  app.add_flag("--readonly", line.session.read_only, "refuse to change the database");
  app.add_flag_callback(
      "--bail", [&] { line.settings.bail = true; }, "end a script at its first error (the default)");
  app.add_option_function<int>(
      "--threads",
      [&](int n) {
        line.session_statements.push_back("SET threads = " + std::to_string(n));
        serve.threads = n;
        worker.threads = n;
        mpi.threads = n;
      },
      "threads that work on tiles");
  app.add_option_function<std::string>(
      "--memory-limit",
      [&](const std::string& size) {
        line.session_statements.push_back("SET memory_limit = " + quoted(size));
        serve.memory_limit = size;
        worker.memory_limit = size;
        mpi.memory_limit = size;
      },
      "memory that a statement may take, or with serve and worker all of them together, as in 2GB");
  auto* const workers = add_cluster(app, line.cluster);
  auto* const mpi_flag = add_mpi(app, mpi, workers);
  app.set_version_flag("--version", build_facts, "print the version and what the program is made of, and leave");
  app.set_help_flag("-h,--help", "print this help and leave");
  CalibrateCommand calibrate;
  auto* calibration = app.add_subcommand("calibrate",
                                         "measure this machine for SET cost_model = 'calibrated', and with --workers "
                                         "their exchanges; print and keep the figures");
  calibration->fallthrough();
  calibration->add_option("FILE", calibrate.file, "where to keep them; otherwise where the program looks for them")
      ->type_name(kFile);
  calibration->add_option("--seconds", calibrate.seconds, "about how long to measure")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  auto* server = app.add_subcommand("serve", "serve the database to clients of the PostgreSQL protocol");
  server->fallthrough();
  add_path(*server, "DATABASE", line.database, "file of the database, made if it is not there");
  server->add_option("--listen", serve.listen, "ADDRESS:PORT; port 0 is one that is free")->capture_default_str();
  add_path(*server, "--files-dir", serve.files_directory, "directory of the files that clients may COPY; without, none",
           kFolder);
  server->add_option("--heavy", serve.heavy_statements, "long statements that run at a time")
      ->check(CLI::Range(1, 1024));
  server->add_option("--statement-threads", serve.statement_threads, "threads that run statements")
      ->check(CLI::Range(1, 1024));
  add_tls(*server, serve);
  add_limits(*server, serve);
  add_operation(*server, serve);
  auto* const worker_program = add_worker(app, worker);
  auto* const take_over =
      app.add_subcommand("take-over", "make a copy of a database's file the database that workers serve, in its place");
  take_over->fallthrough();
  add_path(*take_over, "DATABASE", line.database, "the copy")->required();
  auto* const promote = app.add_subcommand(
      "promote", "make a database of the copy of a coordinator's file that a worker keeps (--standby)");
  promote->fallthrough();
  add_path(*promote, "DIRECTORY", line.promotes, "the worker's data directory")->required();
  add_path(*promote, "DATABASE", line.database, "file of the database, which is not there yet")->required();
  for (auto* const program : {calibration, server, worker_program, take_over, promote}) program->excludes(mpi_flag);
  app.footer("Exit status: 0, or 1 if a statement or an argument was wrong. In the shell .help lists the commands.");

  const auto given = with_double_dashes(argc, argv);
  auto arguments = given;
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects them in reverse
  try {
    app.parse(arguments);
    if (server->parsed() && app.get_option("DATABASE")->empty() && server->get_option("DATABASE")->empty())
      throw CLI::RequiredError("DATABASE");
    refuse_as_database(app, line.database);
  } catch (const CLI::ExtrasError& error) {
    const auto extras = app.remaining(true);
    const auto statement = std::find_if(extras.begin(), extras.end(), is_statement);
    const auto command = is_file(line.database) ? std::nullopt : misspelt_command(line.database);
    if (statement == extras.end() && command)
      std::fprintf(stderr, "there is no command %s: did you mean %s?\n", line.database.c_str(), command->c_str());
    else if (statement == extras.end()) app.exit(error);
    else std::fprintf(stderr, "%s\n", how_to_run(*statement, line.database).c_str());
    status = 1;
    return std::nullopt;
  } catch (const CLI::ParseError& outcome) {
    status = app.exit(outcome) == 0 ? 0 : 1;
    return std::nullopt;
  }
  if (calibration->parsed()) {
    line.calibrate = calibrate;
    line.session.read_only = true;  // workers do not take a session for that of their database
  }
  if (server->parsed()) line.serve = serve;
  worker.trust.secret_file = line.cluster.trust.secret_file;
  worker.trust.insecure = line.cluster.trust.insecure;
  worker.tcp_only = line.cluster.tcp_only;
  if (worker_program->parsed()) line.worker = worker;
  line.takes_over = take_over->parsed();
  if (mpi_flag->count() > 0) line.mpi = mpi;
  line.jobs = jobs_in_order(app, command_option, file_option);
  return line;
}

}  // namespace eindb
