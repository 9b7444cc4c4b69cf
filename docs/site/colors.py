"""Colours of the site. Texts have a contrast of 4.5 at least, which tests/docs/site_test.py checks."""

# Styles of Pygments for code.
LIGHT_CODE, DARK_CODE = "default", "github-dark"

# The theme's own dark colours. They stand here for readers whose system asks for them, which Debian's build of the theme forgets.
DARK = {
    "color-problematic": "#ee5151",
    "color-foreground-primary": "#ffffffcc",
    "color-foreground-secondary": "#9ca0a5",
    "color-foreground-muted": "#8b9097",
    "color-foreground-border": "#666666",
    "color-background-primary": "#131416",
    "color-background-secondary": "#1a1c1e",
    "color-background-hover": "#1e2124ff",
    "color-background-hover--transparent": "#1e212400",
    "color-background-border": "#303335",
    "color-background-item": "#444",
    "color-brand-primary": "#3b97f3",
    "color-brand-content": "#3b97f3",
    "color-highlighted-background": "#083563",
    "color-api-keyword": "var(--color-foreground-secondary)",
    "color-highlight-on-target": "#333300",
    "color-admonition-background": "#18181a",
}
