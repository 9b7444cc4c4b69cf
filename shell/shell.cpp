#include "shell/shell.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "common/caught_error.hpp"
#include "common/letter_case.hpp"
#include "common/stopwatch.hpp"
#include "engine/results/cell_text.hpp"
#include "shell/dot_commands.hpp"
#include "shell/interrupts.hpp"

namespace eindb {
namespace {

constexpr int kMaxScriptDepth = 50;

bool starts_with_explain(std::string_view statement) {
  constexpr std::string_view kWord = "explain";
  return statement.size() > kWord.size() &&
         std::equal(kWord.begin(), kWord.end(), statement.begin(), [](char a, char b) { return a == (b | '\x20'); });
}

/// Passes rows on until Ctrl-C, since a long result may still be printed after its query has ended.
class InterruptibleRows : public RowSource {
 public:
  explicit InterruptibleRows(std::unique_ptr<RowSource> rows) : rows_(std::move(rows)) {}
  bool next(Row& row) override {
    Interrupts::check("the output");
    return rows_->next(row);
  }

 private:
  std::unique_ptr<RowSource> rows_;
};

/// Sends what a user's statement prints through the pager, and what a script prints past it, while it lives.
class PagedOutput {
 public:
  PagedOutput(Output& output, const std::string& pager) : output_(output) { output_.page_with(pager); }
  ~PagedOutput() {
    try {
      output_.page_with("");
    } catch (const std::exception&) {  // the statement has flushed, and told what went wrong
    }
  }
  PagedOutput(const PagedOutput&) = delete;
  PagedOutput& operator=(const PagedOutput&) = delete;

 private:
  Output& output_;
};

/// The words that people try first, as commands: `help`, `exit;`. nullopt for any other line.
std::optional<std::string> command_of_word(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  const auto word = to_lower(line.substr(begin, line.find_last_not_of(" \t;") + 1 - begin));
  if (word == "help" || word == "?") return ".help";
  if (word == "exit" || word == "quit") return ".quit";
  return std::nullopt;
}

void print_lines(RowSource& rows, Output& output) {
  for (Row row; rows.next(row);) output.write(cell_text(row.at(0)) + "\n");
}

}  // namespace

Shell::Shell(SessionOpener opener, const std::string& database, ShellSettings settings)
    : opener_(std::move(opener)), settings_(std::move(settings)) {
  open(database);
}

void Shell::open(const std::string& database) {
  auto session = opener_(database);
  session->on_progress([this](const Progress& progress) { progress_.update(progress); });
  session->on_notice([](const std::string& notice) { std::fprintf(stderr, "note: %s\n", notice.c_str()); });
  session_ = std::move(session);
  database_ = database;
}

bool Shell::run(LineSource& source) {
  if (depth_ >= kMaxScriptDepth) throw Error(ErrorKind::Value, "scripts read each other without end");
  const bool was_interactive = std::exchange(is_interactive_, source.is_interactive());
  if (is_interactive_) user_ = &source;
  ++depth_;
  const bool ok = read_all(source);
  --depth_;
  if (&source == user_) user_ = nullptr;
  is_interactive_ = was_interactive;
  return ok;
}

bool Shell::read_all(LineSource& source) {
  bool ok = true;
  Chunk chunk{.source = source, .text = {}};
  std::size_t line_number = 0;
  std::string line;
  while (!quit_ && (ok || !stops_after_error(source))) {
    const auto event = source.next(line, !chunk.text.empty());
    if (event == LineSource::Event::End) break;
    if (event == LineSource::Event::Interrupted) {
      chunk.text.clear();
      continue;
    }
    ++line_number;
    if (chunk.text.empty()) chunk.first_line = line_number;
    try {
      ok = take_line(chunk, line) && ok;
    } catch (const std::bad_alloc&) {
      report_no_memory(chunk, 0);
      chunk.text.clear();
      ok = false;
    }
  }
  // The last statement of a script may lack its semicolon; an unfinished interactive statement is dropped.
  if (!source.is_interactive() && !quit_ && (ok || !settings_.bail)) ok = run_chunk(chunk) && ok;
  return ok;
}

bool Shell::run_text(const std::string& text) {
  ArgumentLines lines(text, is_interactive_);
  return run_chunk({.source = lines, .text = text});
}

/// Adds a line, and runs the statement or command that it completes.
bool Shell::take_line(Chunk& chunk, const std::string& line) {
  if (chunk.source.is_interactive() && take_word(chunk, line)) return true;
  const bool is_command = chunk.text.empty() && DotCommands::is_command(line);
  chunk.text += line;
  chunk.text += '\n';
  // Only a line with a semicolon or a brace can complete a statement, so the lines of a long INSERT are not scanned
  // repeatedly.
  const bool may_end = chunk.text.size() == line.size() + 1 || line.find_first_of(";}") != std::string::npos;
  if (!is_command && !(may_end && is_complete(chunk.text))) return true;
  chunk.source.remember(chunk.text);
  const bool ok = is_command ? run_command(chunk) : run_chunk(chunk);
  chunk.text.clear();
  return ok;
}

/// Runs a word such as `help` that stands alone on a line of a user's. Within a statement it is a part of that, and the
/// user is told how to get out.
bool Shell::take_word(Chunk& chunk, const std::string& line) {
  const auto command = command_of_word(line);
  if (!command) return false;
  if (!chunk.text.empty()) {
    std::fputs("note: this is a part of the statement, which ends with a semicolon; Ctrl-C drops it\n", stderr);
    return false;
  }
  chunk.source.remember(line);
  chunk.text = *command;
  run_command(chunk);
  chunk.text.clear();
  return true;
}

bool Shell::run_chunk(const Chunk& chunk) {
  bool ok = true;
  for (const auto& statement : split_statements(chunk.text)) {
    if (!ok && stops_after_error(chunk.source)) break;
    ok = run_statement(chunk, statement) && ok;
  }
  return ok;
}

bool Shell::run_statement(const Chunk& chunk, const StatementText& statement) {
  const PagedOutput pages(output_, chunk.source.is_interactive() ? settings_.pager : "");
  try {
    if (settings_.echo) output_.write(std::string(statement.text) + "\n");
    last_statement_ = statement.text;
    const Stopwatch stopwatch;
    execute(chunk, statement);
    const auto time = 1000 * stopwatch.seconds();
    output_.flush();  // so that the result precedes its time
    if (settings_.timer) std::fprintf(stderr, "Time: %.3f ms\n", time);
    output_.end_once();
    return true;
  } catch (const PagerClosed&) {
    end_output();
    output_.end_once();
    return true;
  } catch (const Error& error) {
    end_output();
    report(chunk, error, statement.offset);
  } catch (const std::bad_alloc&) {
    end_output();
    report_no_memory(chunk, statement.offset);
  }
  output_.end_once();
  return false;
}

/// After a failure: what was written before it goes out, and nothing more fails.
void Shell::end_output() noexcept {
  progress_.finish();
  try {
    output_.flush();
  } catch (const std::exception&) {  // the first failure is the one to tell
  }
}

void Shell::execute(const Chunk& chunk, const StatementText& statement) {
  const Interrupts::Scope scope(*session_);
  progress_.start();
  auto result = session_->execute(statement.text);
  progress_.finish();
  if (result.rows) {
    print(result, starts_with_explain(statement.text));
  } else if (chunk.source.is_interactive() && !result.status.empty()) {
    output_.write(result.status + "\n");
  }
}

bool Shell::run_command(const Chunk& chunk) {
  const PagedOutput pages(output_, chunk.source.is_interactive() ? settings_.pager : "");
  try {
    const bool ok = DotCommands(*this).run(chunk.text);
    output_.flush();
    return ok;
  } catch (const PagerClosed&) {
    end_output();
    return true;
  } catch (const Error& error) {
    end_output();
    report(chunk, error, 0);
  } catch (const std::bad_alloc&) {
    end_output();
    report_no_memory(chunk, 0);
  }
  return false;
}

PrintMode Shell::mode() const {
  return settings_.mode.value_or(output_.is_terminal() ? PrintMode::Box : PrintMode::Csv);
}

void Shell::print(Result& result, bool is_explain) {
  result.rows = std::make_unique<InterruptibleRows>(std::move(result.rows));
  const bool is_default = !settings_.mode || settings_.mode == PrintMode::Box;
  const bool wants_lines =
      settings_.explain == ExplainText::On || (settings_.explain == ExplainText::Auto && is_default);
  if (is_explain && wants_lines && result.columns.size() == 1) return print_lines(*result.rows, output_);
  const bool on_terminal = output_.is_terminal();
  const PrintOptions options{.headers = settings_.headers,
                             .max_rows = on_terminal ? settings_.max_rows : 0,
                             .max_width = on_terminal ? output_.size().columns : 0,
                             .widths = settings_.widths,
                             .null_text = settings_.null_text};
  make_result_printer(mode(), options)->print(result, output_);
}

std::vector<Row> Shell::query(std::string_view statement) {
  auto result = session_->execute(statement);
  std::vector<Row> rows;
  for (Row row; result.rows && result.rows->next(row);) rows.push_back(row);
  return rows;
}

/// Reports without the place if there is no memory for that either.
void Shell::report_no_memory(const Chunk& chunk, std::size_t offset) const noexcept {
  try {
    report(chunk, out_of_memory("this statement"), offset);
  } catch (const std::exception&) {
    std::fputs("memory limit: the machine has no memory left\n  hint: end what else takes memory\n", stderr);
  }
}

/// `offset` is the begin of the failed statement in the chunk; the error's span counts from there. In a script, places
/// refer to the whole file: the lines before the chunk count as empty lines.
void Shell::report(const Chunk& chunk, const Error& error, std::size_t offset) const {
  const auto name = chunk.source.name();
  const std::size_t lines_before = name.empty() ? 0 : chunk.first_line - 1;
  const auto text = std::string(lines_before, '\n') + chunk.text;
  const auto start = lines_before + offset;
  auto span = error.span();
  if (span) span = SourceSpan{span->begin + start, span->end + start};
  std::string message = render(Error(error.kind(), error.message(), span, error.hint()), text);
  if (!name.empty()) {
    message = name + ":" + std::to_string(locate(text, span ? span->begin : start).line) + ": " + message;
  }
  std::fflush(stdout);  // so that earlier output precedes the error
  std::fprintf(stderr, "%s\n", message.c_str());
}

}  // namespace eindb
