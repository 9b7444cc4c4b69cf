"""Sphinx's settings of the site: see README.md in this folder. build.py runs Sphinx with them."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import colors  # noqa: E402  (found by the path above)

project = "eindb"
author = "the authors of eindb"
version = release = os.environ["EINDB_VERSION"]
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "breathe", "statements_lexer", "docstrings", "table_heads"]
root_doc = "index"
templates_path = [os.path.join(HERE, "templates")]
nitpicky = True
smartquotes = False  # texts have code in them
# Names of the libraries of C++ and Python, which have no page here; the namespace; and what classes keep to themselves.
nitpick_ignore_regex = [("cpp:identifier", r"std(::.*)?|(u?int\d+|s?size|ptrdiff)_t|eindb|Impl|Arrow(Schema|Array|ArrayStream)"), ("py:.*", r".*")]

myst_heading_anchors = 6

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"
breathe_projects = {"eindb": os.environ["EINDB_DOXYGEN"]}
breathe_default_project = "eindb"
breathe_default_members = ("members",)
breathe_show_include = False
cpp_id_attributes = ["EINDB_API"]

html_theme = "furo"
html_title = f"eindb {version}".strip()
html_static_path = [os.path.join(HERE, "static"), os.environ["EINDB_STATIC"]]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_domain_indices = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": False, "dark_css_variables": colors.DARK}
highlight_language = "none"
pygments_style = colors.LIGHT_CODE
pygments_dark_style = colors.DARK_CODE
