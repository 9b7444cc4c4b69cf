#include "shell/text_editor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "common/error.hpp"
#include "common/file_stream.hpp"
#include "common/open_file.hpp"

namespace eindb {
namespace {

/// A new file of this user's alone, which is removed in the end.
class EditedFile {
 public:
  explicit EditedFile(const std::string& text) {
    static int count = 0;
    const auto name = "eindb-" + std::to_string(getpid()) + "-" + std::to_string(++count) + ".sql";
    path_ = (std::filesystem::temp_directory_path() / name).string();
    const int file = open_file(path_, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (file < 0) fail("cannot make");
    const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (!close_file(file) || !written) fail("cannot write");
  }
  ~EditedFile() {
    std::error_code unknown;
    std::filesystem::remove(path_, unknown);
  }
  EditedFile(const EditedFile&) = delete;
  EditedFile& operator=(const EditedFile&) = delete;

  const std::string& path() const { return path_; }
  std::string text() const {
    FileStream stream(path_);
    if (!stream) fail("cannot read");
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorKind::Io, std::string(what) + " '" + path_ + "': " + std::strerror(errno));
  }

  std::string path_;
};

}  // namespace

std::optional<std::string> edited_text(const std::string& text) {
  const auto before = text.empty() || text.ends_with('\n') ? text : text + "\n";
  const EditedFile file(before);
  // The shell of the system splits the editor's own arguments, as in EDITOR="code --wait".
  const auto command = "${VISUAL:-${EDITOR:-vi}} '" + file.path() + "'";
  if (std::system(command.c_str()) != 0)
    throw Error(ErrorKind::Io, "the editor has failed", std::nullopt, "set EDITOR to one that is installed");
  auto after = file.text();
  if (after == before || after.find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
  return after;
}

}  // namespace eindb
