// What the theme leaves to say to people who do not see the page: names for its parts, and a place for the keyboard.
function name() {
  const count = {};
  for (const part of document.querySelectorAll("nav")) {
    const label = part.getAttribute("aria-label") || (part.matches(".md-code__nav") ? "Code" : "Section");
    count[label] = (count[label] || 0) + 1;
    part.setAttribute("aria-label", count[label] > 1 ? `${label} ${count[label]}` : label);
  }
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) wide.tabIndex = 0;
}

addEventListener("load", () => {
  name();
  let waiting;
  new MutationObserver(() => {
    clearTimeout(waiting);
    waiting = setTimeout(name, 50);
  }).observe(document.querySelector("main"), { childList: true, subtree: true });
});
