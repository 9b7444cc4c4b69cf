#include "shell/line_editor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <string_view>

#include "common/open_databases.hpp"
#include "engine/script.hpp"
#include "shell/interrupts.hpp"

namespace eindb {
namespace {

constexpr int kHistorySize = 10000;
constexpr std::size_t kLongestEntry = std::size_t{1} << 16U;  // bytes; each statement writes the whole history
// The signal may be delivered to another thread, in which case poll() in this one is not interrupted.
constexpr int kInterruptCheckMilliseconds = 100;

constexpr const char* kMarkPastes = "\x1B[?2004h";
constexpr const char* kDoNotMarkPastes = "\x1B[?2004l";
constexpr std::string_view kPasteEnd = "\x1B[201~";

std::optional<std::filesystem::path> in_home(const char* file) {
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return std::nullopt;
  return std::filesystem::path(home) / file;
}

/// The file in which libedit looks for the user's key bindings.
std::optional<std::filesystem::path> keys_path() {
  const char* chosen = std::getenv("EDITRC");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return in_home(".editrc");
}

/// libedit opens files by path, so files of open databases must not be passed to it.
bool may_be_opened(const std::filesystem::path& path) { return !is_of_open_database(AT_FDCWD, path.string()); }

/// Reads one byte of standard input: returns 1, 0 at the end, -1 after Ctrl-C.
ssize_t read_byte(char& byte) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (!Interrupts::pending()) {
    if (poll(&input, 1, kInterruptCheckMilliseconds) <= 0) continue;
    const auto count = read(STDIN_FILENO, &byte, 1);
    if (count >= 0 || errno != EINTR) return count;
  }
  return -1;
}

/// Whether the terminal knows more than plain text.
bool knows_escapes() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

/// Pasted text as keys: line ends are those of the Enter key, control characters other than tabs are left out.
std::string as_keys(std::string_view pasted) {
  std::string keys;
  for (std::size_t n = 0; n < pasted.size(); ++n) {
    const auto c = pasted[n];
    if (c == '\r' && n + 1 < pasted.size() && pasted[n + 1] == '\n') continue;
    if (c == '\r' || c == '\n') keys += '\n';
    else if (c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)) keys += c;
  }
  return keys;
}

}  // namespace

LineEditor::LineEditor(Completion completion)
    : completion_(std::move(completion)),
      history_path_(in_home(".eindb_history")),
      edit_(el_init("eindb", stdin, stdout, stderr)),
      history_(history_init()) {
  HistEvent event;
  history(history_, &event, H_SETSIZE, kHistorySize);
  history(history_, &event, H_SETUNIQUE, 1);
  if (history_path_ && may_be_opened(*history_path_)) history(history_, &event, H_LOAD, history_path_->c_str());

  el_set(edit_, EL_CLIENTDATA, this);
  el_set(edit_, EL_PROMPT, &LineEditor::prompt);
  el_set(edit_, EL_EDITOR, "emacs");
  el_set(edit_, EL_HIST, history, history_);
  el_set(edit_, EL_GETCFN, &LineEditor::read_character);
  el_set(edit_, EL_ADDFN, "eindb-complete", "Completes a word", &LineEditor::on_tab);
  el_set(edit_, EL_BIND, "^I", "eindb-complete", nullptr);
  el_set(edit_, EL_ADDFN, "eindb-paste", "Takes pasted text", &LineEditor::on_paste);
  el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  // Last, so that the user's bindings take precedence.
  if (const auto keys = keys_path(); keys && may_be_opened(*keys)) el_source(edit_, keys->c_str());
  // With the keys of vi, the escape that begins the mark is a command of its own.
  const char* keys_of = nullptr;
  el_get(edit_, EL_EDITOR, &keys_of);
  marks_pastes_ = knows_escapes() && keys_of != nullptr && std::string_view(keys_of) == "emacs";
  if (marks_pastes_) el_set(edit_, EL_BIND, "\\033[200~", "eindb-paste", nullptr);
}

LineEditor::~LineEditor() {
  history_end(history_);
  el_end(edit_);
}

LineEditor& LineEditor::self(EditLine* edit) {
  void* data = nullptr;
  el_get(edit, EL_CLIENTDATA, &data);
  return *static_cast<LineEditor*>(data);
}

char* LineEditor::prompt(EditLine* edit) {
  static std::array<char, 8> first = {"eindb> "};
  static std::array<char, 8> further = {"  ...> "};
  return self(edit).continued_ ? further.data() : first.data();
}

int LineEditor::read_character(EditLine* edit, wchar_t* character) {
  self(edit).from_paste_ = self(edit).next_pasted(*character);
  if (self(edit).from_paste_) return 1;
  std::mbstate_t state{};
  for (char byte = 0;;) {
    const auto count = read_byte(byte);
    if (count <= 0) return static_cast<int>(count);
    const auto length = std::mbrtowc(character, &byte, 1, &state);
    if (length <= 1) return 1;
    if (length == static_cast<std::size_t>(-1)) state = {};  // invalid UTF-8 is dropped
  }
}

unsigned char LineEditor::on_paste(EditLine* edit, int /*key*/) { return self(edit).read_pasted() ? CC_NORM : CC_EOF; }

/// Reads up to the mark at the end of pasted text. False after Ctrl-C or at the end of the input.
bool LineEditor::read_pasted() {
  std::string text;
  while (!text.ends_with(kPasteEnd)) {
    char byte = 0;
    if (read_byte(byte) <= 0) return false;
    text += byte;
  }
  text.resize(text.size() - kPasteEnd.size());
  pasted_.erase(0, pasted_at_);
  pasted_at_ = 0;
  pasted_ += as_keys(text);
  return true;
}

/// Gives the next character of pasted text, if there is one.
bool LineEditor::next_pasted(wchar_t& character) {
  std::mbstate_t state{};
  while (pasted_at_ < pasted_.size() && !Interrupts::pending()) {
    const auto length = std::mbrtowc(&character, pasted_.data() + pasted_at_, pasted_.size() - pasted_at_, &state);
    const bool valid = length > 0 && length <= pasted_.size();
    pasted_at_ += valid ? length : 1;
    if (valid) return true;
    state = {};  // invalid UTF-8 is dropped
  }
  pasted_.clear();
  pasted_at_ = 0;
  return false;
}

LineSource::Event LineEditor::next(std::string& line, bool continued) {
  continued_ = continued;
  if (Interrupts::pending()) pasted_.clear();  // of the statement that was cancelled, or after it
  Interrupts::clear();
  // Before the prompt appears, so that the editor handles keys typed right after it.
  el_set(edit_, EL_PREP_TERM, 1);
  if (marks_pastes_) std::fputs(kMarkPastes, stdout);
  int length = 0;
  const char* text = el_gets(edit_, &length);
  if (marks_pastes_) std::fputs(kDoNotMarkPastes, stdout);
  if (Interrupts::pending()) {
    pasted_.clear();
    std::fputs("^C\n", stdout);
    return Event::Interrupted;
  }
  if (text == nullptr || length <= 0) {
    std::fputs("\n", stdout);
    return Event::End;
  }
  line.assign(text, static_cast<std::size_t>(length));
  if (line.ends_with('\n')) line.pop_back();
  return Event::Line;
}

/// The history is written after each statement, so that it survives a crash.
void LineEditor::remember(const std::string& text) {
  const auto end = text.find_last_not_of(" \t\n");
  if (end == std::string::npos || end >= kLongestEntry || mentions_password(text)) return;
  HistEvent event;
  history(history_, &event, H_ENTER, text.substr(0, end + 1).c_str());
  if (!history_path_ || !may_be_opened(*history_path_)) return;
  history(history_, &event, H_SAVE, history_path_->c_str());
  chmod(history_path_->c_str(), S_IRUSR | S_IWUSR);
}

unsigned char LineEditor::on_tab(EditLine* edit, int /*key*/) { return self(edit).complete(); }

unsigned char LineEditor::complete() {
  if (from_paste_) return el_insertstr(edit_, "\t") == 0 ? CC_REFRESH : CC_ERROR;
  const auto* info = el_line(edit_);
  const std::string before(info->buffer, info->cursor);
  const auto candidates = completion_.candidates(before);
  if (candidates.empty()) return CC_REFRESH_BEEP;

  const auto start = Completion::word_start(before);
  const auto prefix = Completion::common_prefix(candidates, Completion::case_of(before));
  const bool is_single = candidates.size() == 1;
  if (is_single || prefix.size() > before.size() - start) {
    el_deletestr(edit_, static_cast<int>(before.size() - start));
    el_insertstr(edit_, (prefix + (is_single ? Completion::ending(before, prefix) : "")).c_str());
    return CC_REFRESH;
  }
  std::fputc('\n', stdout);
  for (const auto& candidate : candidates) std::fputs((candidate + "  ").c_str(), stdout);
  std::fputc('\n', stdout);
  return CC_REDISPLAY;
}

}  // namespace eindb
