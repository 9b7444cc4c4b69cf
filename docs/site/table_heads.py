"""Markdown wants a head of every table; where all its cells are empty, the page has none."""

from docutils import nodes


def drop_empty_heads(app, doctree, document):
    for head in list(doctree.findall(nodes.thead)):
        if not head.astext().strip():
            head.parent.remove(head)


def setup(app):
    """For Sphinx."""
    app.connect("doctree-resolved", drop_empty_heads)
    return {"parallel_read_safe": True}
