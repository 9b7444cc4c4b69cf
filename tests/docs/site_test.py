#!/usr/bin/python3
"""site_test.py BUILD: makes the site of the documentation, and looks at its pages as a browser without a network would."""
import glob
import html.parser
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SITE = os.path.join(ROOT, "docs", "site")
NEEDED = ["sphinx", "myst_parser", "furo", "breathe", "matplotlib", "IPython", "scipy", "pandas"]
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None] + ["doxygen"] * (shutil.which("doxygen") is None)
sys.path.append(SITE)


class Page(html.parser.HTMLParser):
    """What matters of a page: links, what it loads, headings, the names of places, landmarks."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.headings, self.ids, self.tags = [], [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if "id" in attributes:
            self.ids.add(attributes["id"])
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag in ("link", "script", "img", "iframe", "source", "object", "use"):
            self.loaded += [attributes[key] for key in ("href", "src", "data", "srcset") if attributes.get(key)]


def luminance(color):
    channels = [int(color[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """That of two colours, as WCAG has it: 4.5 is enough for text."""
    dark, light = sorted((luminance(one.lstrip("#")[:6]), luminance(other.lstrip("#")[:6])))
    return (light + 0.05) / (dark + 0.05)


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}; script/bootstrap --docs installs them")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import build

        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.build, cls.site = build, os.path.join(cls.folder, "site")
        build.main(["--build", BUILD, cls.site])  # ends the test where Sphinx has something to say
        names = glob.glob("**/*.html", root_dir=cls.site, recursive=True)
        cls.texts = {name: build.read(os.path.join(cls.site, name)) for name in names}
        cls.pages = {name: Page(text) for name, text in cls.texts.items()}

    def test_every_document_is_there(self):
        documents = glob.glob("docs/*.md", root_dir=ROOT) + glob.glob("examples/**/*.md", root_dir=ROOT, recursive=True)
        for name in [*documents, "CHANGELOG.md", "CONTRIBUTING.md", "packaging/README.md"]:
            if name != "docs/README.md":
                self.assertIn(name.replace(".md", ".html"), self.pages)
        self.assertIn("index.html", self.pages)

    def test_nothing_is_loaded_from_elsewhere(self):
        for name, page in self.pages.items():
            for address in page.loaded:
                self.assertFalse(urllib.parse.urlsplit(address).netloc, f"{name} loads {address}")
            self.assertNotIn(ROOT + "/", self.texts[name], f"{name} has a path of this machine")
        for path in glob.glob(os.path.join(self.site, "_static", "**", "*.css"), recursive=True):
            self.assertIsNone(re.search(r"@import|url\(['\"]?(https?:)?/", self.build.read(path)), path)
        # Browsers load no modules of pages that are files.
        for path in glob.glob(os.path.join(self.site, "_static", "**", "*.js"), recursive=True):
            self.assertIsNone(re.search(r"(?m)^import ", self.build.read(path)), path)

    def test_links_lead_somewhere(self):
        for name, page in self.pages.items():
            for address in page.links + page.loaded:
                link = urllib.parse.urlsplit(address)
                if link.scheme or link.netloc:
                    continue
                path = urllib.parse.unquote(link.path)
                target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                self.assertTrue(os.path.isfile(os.path.join(self.site, target)), f"{name}: {address}")
                if link.fragment and target in self.pages and not link.fragment.startswith("svg-"):
                    self.assertIn(urllib.parse.unquote(link.fragment), self.pages[target].ids, f"{name}: {address}")

    def test_readers_by_keyboard_and_by_ear(self):
        for name, page in self.pages.items():
            self.assertEqual(page.links[0], "#main-content", f"{name}: the first link is the one past the navigation")
            self.assertIn("main-content", page.ids, name)
            self.assertIn(("html", "en"), [(tag, attributes.get("lang")) for tag, attributes in page.tags])
            for tag, attributes in page.tags:
                if tag == "img":
                    self.assertTrue(attributes.get("alt"), f"{name}: a picture without a text")
                if tag == "nav":
                    self.assertTrue(attributes.get("aria-label"), name)
                if attributes.get("role") == "heading":
                    self.assertTrue(attributes.get("aria-level"), name)
            self.assertEqual(page.headings.count(1), 1, f"{name}: one title")
            steps = [b - a for a, b in zip(page.headings, page.headings[1:])]
            self.assertLessEqual(max(steps, default=0), 1, f"{name}: headings leave out a level")

    def test_contrast(self):
        import colors
        from pygments.styles import get_style_by_name

        for name in (colors.LIGHT_CODE, colors.DARK_CODE):
            style = get_style_by_name(name)
            for token, look in style:
                if look["color"] and not look["bgcolor"] and "Whitespace" not in str(token):
                    self.assertGreaterEqual(contrast(look["color"], style.background_color), 4.5, f"{name}: {token}")
        backgrounds = [colors.DARK["color-background-primary"], colors.DARK["color-background-secondary"]]
        for key in ("problematic", "foreground-secondary", "foreground-muted", "brand-primary", "brand-content"):
            for background in backgrounds:
                self.assertGreaterEqual(contrast(colors.DARK["color-" + key], background), 4.5, key)

    def test_statements_are_highlighted(self):
        self.assertIn('<span class="k">EINSUM</span>', self.texts["docs/language.html"])
        self.assertRegex(self.texts["examples/notebooks/graphs.html"], r'<span class="k">REPEAT</span>')
        for name, text in self.texts.items():
            self.assertNotIn('<span class="err">', text, name)

    def test_the_references_are_whole(self):
        import eindb

        for name in eindb.__all__:
            self.assertTrue({f"eindb.{name}", f"eindb.errors.{name}"} & self.pages["api/python.html"].ids, name)
        header = self.build.read(os.path.join(ROOT, "api", "include", "eindb", "eindb.hpp"))
        for name in re.findall(r"^(?:class|struct|enum class)(?: EINDB_API)? ([A-Z]\w+) (?::|\{)", header, re.MULTILINE):
            if name == "Convert":
                continue  # of the namespace detail
            self.assertIn(f"<span class=\"pre\">{name}</span>", self.texts["api/cpp.html"], name)
        self.assertIn("Runs one statement.", self.texts["api/cpp.html"])
        self.assertIn("are read where they lie", self.texts["api/python.html"])

    def test_notebooks_show_what_they_computed(self):
        for name in glob.glob("examples/notebooks/*.md", root_dir=ROOT):
            if name.endswith("README.md"):
                continue
            text = self.texts[name.replace(".md", ".html")]
            self.assertIn("cell-output", text, name)
            self.assertRegex(text, r'download internal" download="" href="[^"]*\.ipynb"', name)
        self.assertRegex(self.texts["examples/notebooks/signals.html"], r"<img [^>]*\.svg")

    def test_no_folder_of_others_is_emptied(self):
        folder = os.path.join(self.folder, "precious")
        os.mkdir(folder)
        self.build.write(os.path.join(folder, "letter.txt"), "dear reader")
        self.assertRaisesRegex(SystemExit, "name another folder", self.build.main, ["--build", BUILD, folder])
        self.assertEqual(os.listdir(folder), ["letter.txt"])

    def test_search(self):
        index = self.build.read(os.path.join(self.site, "searchindex.js"))
        self.assertIn('"docs/language"', index)
        for word in ("einsum", "memory_limit", "hdf5"):
            self.assertIn(word, index)

    def test_a_link_that_leads_nowhere_is_a_mistake(self):
        for link in ("nowhere.md", "#nowhere", "other.md#nowhere", "../nowhere"):
            pages, folder = (os.path.join(self.folder, name) for name in ("broken", "broken-site"))
            os.makedirs(pages, exist_ok=True)
            self.build.write(os.path.join(pages, "index.md"), f"# A title\n\n[a link]({link})\n\n```{{toctree}}\nother\n```\n")
            self.build.write(os.path.join(pages, "other.md"), "# Another\n")
            with self.assertRaises(SystemExit, msg=link):
                self.build.run_sphinx(pages, folder, os.path.join(self.folder, "site-work"))


class Lexer(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("pygments") is None, "there is no Pygments")
    def test_all_examples(self):
        from pygments.token import Comment, Error, Keyword, Name

        import statements_lexer

        self.assertIn("LOGSUMEXP", statements_lexer.completed_words())
        lexer, blocks = statements_lexer.StatementsLexer(), 0
        for path in [*glob.glob(os.path.join(ROOT, "docs", "*.md")), os.path.join(ROOT, "README.md")]:
            with open(path, encoding="utf-8") as file:
                for block in re.findall(r"^```sql(?: error)?\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL):
                    blocks += 1
                    tokens = list(lexer.get_tokens(block))
                    self.assertEqual("".join(value for _, value in tokens), block)
                    self.assertNotIn(Error, [token for token, _ in tokens], f"{path}: {block}")
        self.assertGreater(blocks, 100)
        tokens = list(lexer.get_tokens("EINSUM Sum[i] = SUM[j](X[i,j]) + MAX(2) -- end\n"))
        self.assertIn((Keyword, "EINSUM"), tokens)
        self.assertIn((Name, "Sum"), tokens)
        self.assertIn((Name.Function, "SUM"), tokens)
        self.assertIn((Name.Function, "MAX"), tokens)
        self.assertIn((Comment.Single, "-- end"), tokens)
        cell = list(statements_lexer.NotebookLexer().get_tokens("%%eindb rows <<\nSELECT 1\n"))
        self.assertEqual(cell[0][0], Comment.Preproc)
        self.assertIn((Keyword, "SELECT"), cell)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
