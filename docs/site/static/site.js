// What the theme leaves to the mouse, for the keyboard: the labels that open the side bars on narrow screens, and code that scrolls.
document.addEventListener("DOMContentLoaded", () => {
  for (const label of document.querySelectorAll("label.nav-overlay-icon, label.toc-overlay-icon")) {
    const box = document.getElementById(label.htmlFor);
    const tell = () => label.setAttribute("aria-expanded", String(box.checked));
    label.tabIndex = 0;
    label.setAttribute("role", "button");
    tell();
    box.addEventListener("change", tell);
    label.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      box.click();
    });
  }
  for (const code of document.querySelectorAll(".highlight pre, .table-wrapper")) {
    if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
  }
});
