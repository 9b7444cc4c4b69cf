#!/usr/bin/python3
"""build.py [--build FOLDER] [--work FOLDER] [FOLDER]: makes the pages of the documentation. script/docs calls it.

The files are copied to a folder of work, which has the layout of the repository, so that links between them hold in both; in
it are made the start page, notebooks with what they show, and the references of the APIs. Sphinx makes pages of all these,
and whatever it warns of, a link that leads nowhere above all, is an error.
"""

import argparse
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GALLERY = os.path.join(ROOT, "examples", "notebooks")

# What becomes pages. What is found here and is not among the parts below is a mistake, of which Sphinx tells.
DOCUMENTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "examples/**/*.md",
             "packaging/README.md", "web/README.md", "tests/README.md", "tests/data/README.md"]  # fmt: skip
NO_PAGES = ["docs/README.md"]  # the start page has that list
# The parts of the site, with their pages in order, some under titles that the side bar has room for.
PARTS = {
    "Learn": ["docs/tutorial", "docs/recipes", "docs/models", "docs/loops"],
    "Notebooks": [
        "All notebooks <examples/notebooks/README>", "Linear algebra <examples/notebooks/linear_algebra>",
        "Learning <examples/notebooks/layer>", "Retrieval <examples/notebooks/retrieval>", "Graphs <examples/notebooks/graphs>",
        "Sparse factorisation <examples/notebooks/factorisation>", "Signals <examples/notebooks/signals>",
        "Physics <examples/notebooks/ising>", "Live data <examples/notebooks/live_data>",
        "Out of core <examples/notebooks/out_of_core>", "A cluster <examples/notebooks/cluster>",
    ],
    "Look up": ["docs/language", "docs/formats", "docs/shell", "docs/performance", "docs/glossary"],
    "Programs": ["docs/python", "api/python", "docs/cpp", "api/cpp", "docs/sqlite"],
    "Servers": ["docs/server", "docs/console", "docs/clients", "docs/operation", "docs/cluster", "Packages and services <packaging/README>"],
    "Examples": [
        "All examples <examples/README>", "The demo <examples/demo/README>", "Models <examples/models/README>",
        "Classifiers <examples/models/ffnn/README>", "LLaMA <examples/models/llama/README>",
        "Sparse tensors <examples/sparse/README>", "A program in C++ <examples/cpp/README>",
    ],
    "How it is made": [
        "docs/architecture", "docs/keys_and_tiles", "docs/status", "CONTRIBUTING", "The page of the console <web/README>", "Tests <tests/README>",
        "Databases of earlier releases <tests/data/README>", "SECURITY", "CHANGELOG",
    ],
}  # fmt: skip
MARK = ".eindb-site"  # a file in the folders that may be emptied
LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"^(```+).*?^\1[ ]*$", re.MULTILINE | re.DOTALL)


def main(words=None):
    arguments = argparse.ArgumentParser(usage="%(prog)s [--build FOLDER] [--work FOLDER] [FOLDER]")
    arguments.add_argument("--build", default=os.path.join(ROOT, "build"), help="where program and Python package are built")
    arguments.add_argument("--work", help="for files on the way; FOLDER-work without")
    arguments.add_argument("folder", nargs="?", help="for the pages; site in the build without")
    options = arguments.parse_args(words)
    build = os.path.abspath(options.build)
    folder = os.path.abspath(options.folder or os.path.join(build, "site"))
    work = os.path.abspath(options.work or folder + "-work")
    pages, doxygen = os.path.join(work, "pages"), os.path.join(work, "doxygen")
    sys.dont_write_bytecode = True
    sys.path[:0] = [os.path.join(build, "python"), GALLERY]
    os.environ["PATH"] = os.pathsep.join([build, os.environ["PATH"]])  # for the program eindb
    for empty in (folder, work):
        if os.path.isdir(empty) and os.listdir(empty) and not os.path.exists(os.path.join(empty, MARK)):
            sys.exit(f"{empty} has files that are no site's, which would be removed: name another folder")
        shutil.rmtree(empty, ignore_errors=True)
        os.makedirs(empty)
        write(os.path.join(empty, MARK), "made by docs/site/build.py, which removes what is here\n")
    os.makedirs(pages)
    os.makedirs(doxygen)
    stage(pages)
    for path in sorted(glob.glob(os.path.join(pages, "examples", "notebooks", "*.md"))):
        make_notebook(path)
    make_references(pages, doxygen)
    make_start_page(pages)
    make_static_files(os.path.join(work, "static"))
    run_sphinx(pages, folder, work)


def stage(pages):
    """Copies the documents, and the files that they link to, in the layout of the repository."""
    found = {name for pattern in DOCUMENTS for name in glob.glob(pattern, root_dir=ROOT, recursive=True)}
    found = sorted(found - set(NO_PAGES))
    for name in found:
        copy(name, pages)
    for name in found:
        stage_files_behind_links(name, pages)


def copy(name, pages):
    target = os.path.join(pages, name)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(os.path.join(ROOT, name), target)


def stage_files_behind_links(name, pages):
    """Copies the files, no documents, that a document links to: readers can fetch them."""
    for link in LINK.findall(FENCE.sub("", read(os.path.join(pages, name)))):
        target = os.path.normpath(os.path.join(os.path.dirname(name), link.split("#")[0]))
        is_file = os.path.isfile(os.path.join(ROOT, target)) and not target.startswith("..")
        if is_file and not target.endswith(".md"):
            copy(target, pages)


def make_notebook(path):
    """Adds to the page of a notebook what its cells show, and a file for Jupyter."""
    import notebooks

    parts, base = notebooks.read(path), path.removesuffix(".md")
    if all(kind == "text" for kind, _ in parts):
        return  # the list of them
    write(base + ".ipynb", notebooks.as_ipynb(parts))
    title, _, begin = parts[0][1].partition("\n")
    out = [title, f"This page is a notebook: {{download}}`{os.path.basename(base)}.ipynb`.", begin]
    pictures = itertools.count(1)
    with notebooks.Session(pictures=True) as session:
        for kind, body in parts[1:]:
            out.append(body if kind == "text" else f"```ipython\n{body}\n```")
            for output in session.run(body) if kind == "cell" else []:
                out.append(shown(output, f"{base}-{next(pictures)}.svg"))
    write(path, "\n\n".join(out) + "\n")


def shown(output, picture):
    """What a cell shows, as MyST has it; a picture becomes the file of that name."""
    if "image/svg+xml" in output:
        write(picture, output["image/svg+xml"])
        return f"```{{image}} {os.path.basename(picture)}\n:alt: {output['text/plain']}\n:class: cell-output\n```"
    if "text/html" in output:
        return f"```{{raw}} html\n<div class=\"cell-output\">{output['text/html']}</div>\n```"
    return f"````{{code-block}} text\n:class: cell-output\n\n{output['text/plain']}\n````"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_references(pages, doxygen):
    """The pages api/python and api/cpp; the latter from what Doxygen finds in the public header."""
    os.makedirs(os.path.join(pages, "api"), exist_ok=True)
    for name in ("python.md", "cpp.md"):
        shutil.copyfile(os.path.join(HERE, "api", name), os.path.join(pages, "api", name))
    settings = {
        "INPUT": os.path.join(ROOT, "api", "include", "eindb"),
        "OUTPUT_DIRECTORY": doxygen,
        "GENERATE_HTML": "NO",
        "GENERATE_LATEX": "NO",
        "GENERATE_XML": "YES",
        "QUIET": "YES",
        "AUTOLINK_SUPPORT": "NO",
        "WARN_AS_ERROR": "FAIL_ON_WARNINGS",
        "WARN_IF_UNDOCUMENTED": "NO",
        "MACRO_EXPANSION": "YES",
        "EXPAND_ONLY_PREDEF": "YES",
        "PREDEFINED": "EINDB_API=",
        "EXCLUDE_SYMBOLS": "eindb::detail*",
    }
    text = "".join(f'{key} = "{value}"\n' for key, value in settings.items())
    subprocess.run(["doxygen", "-"], input=text, text=True, check=True)


def make_start_page(pages):
    """README.md becomes the start page, with the tables of contents, which the side bar shows, below it."""
    os.replace(os.path.join(pages, "README.md"), os.path.join(pages, "index.md"))
    with open(os.path.join(pages, "index.md"), "a", encoding="utf-8") as file:
        for part, names in PARTS.items():
            file.write(f"\n```{{toctree}}\n:hidden:\n:caption: {part}\n\n" + "\n".join(names) + "\n```\n")


def make_static_files(folder):
    """The theme's script and styles with what they import, which pages that are files cannot: modules, and files of a server."""
    import furo

    theme = os.path.join(os.path.dirname(furo.__file__), "theme", "furo", "static")
    script = read(os.path.join(theme, "scripts", "furo.js"))
    module = re.match(r'import Gumshoe from "\./([\w.-]+)";\n', script)
    if module:
        script = read(os.path.join(theme, "scripts", module[1])) + script[module.end() :]
    styles = read(os.path.join(theme, "styles", "furo.css"))
    base = re.match(r"@import url\((/javascript/[\w./-]+)\);\n", styles)
    if base:
        styles = read("/usr/share" + base[1]) + styles[base.end() :]
    for name, text in (("scripts/furo.js", script), ("styles/furo.css", styles)):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        write(os.path.join(folder, name), text)


def run_sphinx(pages, folder, work):
    import eindb

    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-b", "html", "-c", HERE,
               "-d", os.path.join(work, "doctrees"), pages, folder]  # fmt: skip
    path = os.pathsep.join([os.path.dirname(os.path.dirname(eindb.__file__)), os.environ.get("PYTHONPATH", "")])
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "EINDB_VERSION": eindb.__version__,
        "EINDB_DOXYGEN": os.path.join(work, "doxygen", "xml"),
        "EINDB_STATIC": os.path.join(work, "static"),
    }
    if subprocess.run(command, env=environment).returncode != 0:
        sys.exit("the pages have mistakes, which are listed above")


if __name__ == "__main__":
    main()
