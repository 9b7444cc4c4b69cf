// What the theme leaves to the mouse and to the eye: buttons in the place of the labels that open the side bars on narrow screens,
// names of landmarks, heads of tables, and code that scrolls by keys.
document.addEventListener("DOMContentLoaded", () => {
  for (const label of document.querySelectorAll("label.nav-overlay-icon, label.toc-overlay-icon")) {
    const box = document.getElementById(label.htmlFor);
    const button = document.createElement("button");
    button.className = label.className;
    button.append(...label.childNodes);
    button.addEventListener("click", () => box.click());
    const tell = () => button.setAttribute("aria-expanded", String(box.checked));
    box.addEventListener("change", tell);
    tell();
    label.replaceWith(button);
  }
  for (const overlay of document.querySelectorAll("label.overlay")) overlay.setAttribute("aria-hidden", "true");
  document.querySelector(".sidebar-drawer").setAttribute("aria-label", "Pages and search");
  document.querySelector(".toc-drawer").setAttribute("aria-label", "Contents");
  for (const head of document.querySelectorAll("th")) {
    if (!head.textContent.trim()) head.replaceWith(document.createElement("td")); // a head that names nothing
  }
  for (const code of document.querySelectorAll(".highlight pre, .table-wrapper, .cell-output")) {
    if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
  }
});
