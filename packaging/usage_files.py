#!/usr/bin/python3
"""Writes the completions for bash, zsh and fish, and the man page, from what the program itself says of its usage.

    usage_files.py EINDB MAN_TEMPLATE FOLDER

The template has a line `@OPTIONS@` for the program's options, and `@OPTIONS COMMAND@` for those of each command.
"""
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

# Options of the program that a command takes notice of, too: completions show those beside its own.
CLUSTER = ["workers", "secret-file", "insecure", "heartbeat", "cluster-tls-cert", "cluster-tls-key", "cluster-tls-ca"]
ALSO = {
    "calibrate": ["threads", "memory-limit", *CLUSTER],
    "serve": ["threads", "memory-limit", "readonly", "standby", *CLUSTER],
    "worker": ["threads", "memory-limit", "secret-file", "insecure"],
    "promote": CLUSTER,
    "take-over": CLUSTER,
}


@dataclass
class Option:
    long: str
    short: str = ""
    kind: str = ""  # of the value: FILE, FOLDER, WORD, or any other; empty if there is none
    default: str = ""
    text: str = ""

    def words(self):
        """Those that its text lists: 'box (on a terminal), csv or list'."""
        plain = re.sub(r" \([^)]*\)", "", self.text)
        return re.split(r", | or ", plain) if self.kind == "WORD" else []

    def names(self):
        return ([f"-{self.short}"] if self.short else []) + [f"--{self.long}"]


@dataclass
class Usage:
    text: str = ""
    options: list = field(default_factory=list)
    commands: dict = field(default_factory=dict)  # name to text


def usage(eindb, *command):
    """What `eindb COMMAND --help` says."""
    printed = subprocess.run([eindb, *command, "--help"], capture_output=True, text=True, check=True).stdout
    found, part, last = Usage(text=printed.splitlines()[0]), "", None
    for line in printed.splitlines()[1:]:
        if re.match(r"\S.*:$", line):
            part = line
        elif option := re.match(r"  (?:-(\w),)?--([\w-]+)(?: (.*?))?(?:  +(\S.*))?$", line):
            short, long, value, text = option.groups()
            kind = re.match(r"[A-Z]+\b", value or "")
            default = re.search(r"=(\S+)( |$)", value or "")
            last = Option(long, short or "", kind[0] if kind else "", default[1] if default else "", text or "")
            found.options.append(last)
        elif part == "Subcommands:" and (named := re.match(r"  ([\w-]+)  +(\S.*)$", line)):
            found.commands[named[1]] = named[2]
        elif part == "Options:" and last is not None and re.match(r" {20,}\S", line):
            last.text = f"{last.text} {line.strip()}".strip()
    if not found.options or any(not option.text for option in found.options):
        raise SystemExit(f"the usage of eindb {' '.join(command)} is not understood:\n{printed}")
    return found


def known_options(usages):
    """By the name of the command, "" for none: the options that completions show. One name means one thing."""
    program = {option.long: option for option in usages[""].options}
    shown = {"": usages[""].options}
    for command in usages[""].commands:
        shown[command] = usages[command].options + [program[name] for name in ALSO[command]]
    kinds = {}
    for option in (option for options in shown.values() for option in options):
        if kinds.setdefault(option.long, option.kind) != option.kind:
            raise SystemExit(f"--{option.long} has values of two kinds")
    return shown


def bash(usages):
    shown = known_options(usages)
    every = {name: option for options in shown.values() for option in options for name in option.names()}
    commands = list(usages[""].commands)

    def names_with(condition):
        return "|".join(name for name, option in every.items() if condition(option))

    lines = ["# Completions of eindb for bash, made from its usage by packaging/usage_files.py.", "_eindb() {",
             "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= options i",
             "  COMPREPLY=()",
             "  # A value after = is a word of its own here.",
             "  if [[ $word == = ]]; then",
             "    word=",
             "  elif [[ $before == = && $COMP_CWORD -gt 1 ]]; then",
             "    before=${COMP_WORDS[COMP_CWORD - 2]}",
             "  fi",
             "  for ((i = 1; i < COMP_CWORD; i++)); do",
             "    case ${COMP_WORDS[i]} in",
             f"      {' | '.join(commands)}) command=${{COMP_WORDS[i]}} && break ;;",
             "    esac",
             "  done",
             "  case $before in",
             f"    {names_with(lambda option: option.kind == 'FILE')})",
             "      compopt -o filenames 2>/dev/null",
             '      mapfile -t COMPREPLY < <(compgen -f -- "$word")',
             "      return",
             "      ;;",
             f"    {names_with(lambda option: option.kind == 'FOLDER')})",
             "      compopt -o filenames 2>/dev/null",
             '      mapfile -t COMPREPLY < <(compgen -d -- "$word")',
             "      return",
             "      ;;"]  # fmt: skip
    for name, option in every.items():
        if option.kind == "WORD":
            lines += [f"    {name})", f"      mapfile -t COMPREPLY < <(compgen -W '{' '.join(option.words())}' -- \"$word\")",
                      "      return", "      ;;"]  # fmt: skip
    lines += [f"    {names_with(lambda option: option.kind not in ('', 'FILE', 'FOLDER', 'WORD'))}) return ;;", "  esac",
              "  if [[ $word == -* ]]; then", "    case $command in"]  # fmt: skip
    for command, options in sorted(shown.items(), reverse=True):
        names = " ".join(f"--{option.long}" for option in options)
        lines.append(f"      {command or '*'}) options='{names}' ;;")
    lines += ["    esac", '    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")', "    return", "  fi",
              "  compopt -o filenames 2>/dev/null",
              '  mapfile -t COMPREPLY < <(compgen -f -- "$word")',
              f"  [[ -n $command ]] || mapfile -t -O \"${{#COMPREPLY[@]}}\" COMPREPLY < <(compgen -W '{' '.join(commands)}' -- \"$word\")",
              "}", "complete -F _eindb eindb"]  # fmt: skip
    return "\n".join(lines) + "\n"


def in_zsh(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh(usages):
    actions = {"FILE": "_files", "FOLDER": "_files -/"}

    def spec(option):
        value = ""
        if option.kind:
            action = f"({' '.join(option.words())})" if option.kind == "WORD" else actions.get(option.kind, " ")
            value = f":{option.kind.lower()}:{action}"
        repeated = "*" if option.long in ("command", "file") else ""
        names = option.names()
        head = f"'{repeated}{names[0]}" if len(names) == 1 else f"'{repeated}'{{{','.join(names)}}}'"
        equals = "=" if option.kind and len(names) == 1 else ""
        return f"        {head}{equals}[{in_zsh(option.text)}]{value}'"

    commands = usages[""].commands
    places = " ".join(f"{name}\\:\"{in_zsh(text)}\"" for name, text in commands.items())
    lines = ["#compdef eindb", "# Completions of eindb for zsh, made from its usage by packaging/usage_files.py.", "",
             "_eindb_place() {",
             "  _alternative \\",
             f"    'commands:command:(({places}))' \\",
             "    'files:database:_files'",
             "}", "",
             "_eindb() {",
             "  local command= word place=_eindb_place",
             "  local -a options",
             "  for word in ${words[2,CURRENT-1]}; do",
             "    case $word in",
             f"      ({'|'.join(commands)}) command=$word place=_files; break ;;",
             "    esac",
             "  done",
             "  case $command in"]  # fmt: skip
    for command, options in sorted(known_options(usages).items(), reverse=True):
        lines += [f"    ({command or '*'})", "      options=(", *map(spec, options), "      )", "      ;;"]
    lines += ["  esac", '  _arguments -S "${options[@]}" "*: :$place"', "}", "", '_eindb "$@"']
    return "\n".join(lines) + "\n"


def in_fish(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(usages):
    commands = usages[""].commands
    lines = ["# Completions of eindb for fish, made from its usage by packaging/usage_files.py.",
             "function __eindb_command_is",
             "    for word in (commandline -opc)[2..]",
             f"        if contains -- $word {' '.join(commands)}",
             "            test \"$argv\" = $word",
             "            return",
             "        end",
             "    end",
             "    test -z \"$argv\"",
             "end"]  # fmt: skip
    for name, text in commands.items():
        lines.append(f"complete -c eindb -n __eindb_command_is -a {name} -d {in_fish(text)}")
    values = {"FILE": " -r -F", "FOLDER": " -x -a '(__fish_complete_directories)'", "": ""}
    for command, options in known_options(usages).items():
        condition = f"'__eindb_command_is {command}'" if command else "__eindb_command_is"
        for option in options:
            short = f" -s {option.short}" if option.short else ""
            value = f" -x -a {in_fish(' '.join(option.words()))}" if option.kind == "WORD" else values.get(option.kind, " -x")
            lines.append(f"complete -c eindb -n {condition}{short} -l {option.long}{value} -d {in_fish(option.text)}")
    return "\n".join(lines) + "\n"


def in_roff(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def man_options(found):
    lines = []
    for option in found.options:
        names = ", ".join(f"\\fB{in_roff(name)}\\fR" for name in option.names())
        value = f" \\fI{option.kind}\\fR" if option.kind else ""
        text = option.text + (f"; {option.default} without" if option.default else "")
        lines += [".TP", names + value, re.sub(r"^(?=[.'])", "\\&", in_roff(text))]
    return "\n".join(lines)


def man(usages, template):
    with open(template, encoding="utf-8") as file:
        text = file.read()
    missing = [name for name in usages if (f"@OPTIONS {name}@" if name else "@OPTIONS@") not in text]
    if missing:
        raise SystemExit(f"{template} has no place for the options of {missing}")
    for name, found in usages.items():
        text = text.replace(f"@OPTIONS {name}@" if name else "@OPTIONS@", man_options(found))
    return text


def main():
    eindb, template, folder = sys.argv[1:]
    usages = {"": usage(eindb)}
    for command in usages[""].commands:
        usages[command] = usage(eindb, command)
    version = subprocess.run([eindb, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    files = {"eindb.bash": bash(usages), "_eindb": zsh(usages), "eindb.fish": fish(usages),
             "eindb.1": man(usages, template).replace("@VERSION@", version)}  # fmt: skip
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
