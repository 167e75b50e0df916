// Conveniences only: every page works without them.
"use strict";

const find = (selector) => document.querySelector(selector);
const typing = (event) => event.target.closest("input, select, textarea, [contenteditable]") !== null;

// A filter takes effect when it is chosen.
for (const box of document.querySelectorAll("#filters select")) {
  box.addEventListener("change", () => box.form.requestSubmit());
}
// An address names only what is set.
const filters = find("#filters");
if (filters) {
  filters.addEventListener("submit", () => {
    const boxes = [...filters.querySelectorAll("input[name=columns]")];
    const areUsual = boxes.every((box) => box.checked === "usual" in box.dataset);
    for (const field of filters.elements) {
      const isDefault = field.value === "" || (field.name === "sort" && field.value === "number") || (field.name === "scorer" && field.value === "0") || (field.name === "columns" && areUsual);
      if (field.name && isDefault) field.disabled = true;
    }
  });
  window.addEventListener("pageshow", () => { for (const field of filters.elements) field.disabled = false; });
}

// The list: lines without the words are hidden; two runs have to be chosen.
const runs = find("#runs");
if (runs) {
  const lines = [...runs.tBodies[0].rows];
  const box = find("#filter");
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    for (const line of lines) line.hidden = !words.every((word) => line.textContent.toLowerCase().includes(word));
  });
  const button = find("#compare");
  const choose = () => {
    const chosen = runs.querySelectorAll("input[name=run]:checked").length;
    button.disabled = chosen !== 2;
    button.textContent = chosen === 1 ? "Choose one more" : chosen > 2 ? "Choose only two" : "Compare two";
  };
  runs.addEventListener("change", choose);
  choose();
}

// While a run goes on, its figures and rows are asked for again when there are new ones.
const follow = async () => {
  const live = find("#live");
  const place = live && live.dataset.follow;
  if (!place) return;
  try {
    const version = document.hidden ? live.dataset.version : await (await fetch(place)).text();
    if (version !== live.dataset.version) {
      const answer = await fetch(location.href);
      if (answer.ok) renew(new DOMParser().parseFromString(await answer.text(), "text/html"));
    }
  } catch { /* the viewer was stopped: what is on the page stays */ }
  setTimeout(follow, 2000);
};
const renew = (page) => {
  for (const id of ["live", "table"]) {
    const old = document.getElementById(id);
    const now = page.getElementById(id);
    // Nobody wants the line that has the focus to be moved away.
    if (!old || !now || (id === "table" && old.contains(document.activeElement))) continue;
    const open = [...old.querySelectorAll("details")].map((one) => one.open);
    now.querySelectorAll("details").forEach((one, at) => { one.open = open[at] ?? one.open; });
    old.replaceWith(now);
  }
};
setTimeout(follow, 2000);

// A link to this row that can be pasted.
const copy = find("#copy");
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.origin + copy.dataset.link);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy link"; }, 1500);
  });
}

// Keys. Lines are moved through by the links in them, so that Enter opens them without our help.
const links = () => [...document.querySelectorAll(".grid tbody tr:not([hidden]) th a")];
const move = (step) => {
  const all = links();
  if (!all.length) return false;
  const at = all.indexOf(document.activeElement);
  all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)].focus();
  return true;
};
const go = (selector) => {
  const link = find(selector);
  if (link) link.click();
  return link !== null;
};
const keys = {
  j: () => (find(".turn") ? go(".turn a[rel=next]") : move(1)),
  k: () => (find(".turn") ? go(".turn a[rel=prev]") : move(-1)),
  "/": () => { const box = find("#filter"); if (box) { box.focus(); box.select(); } return box !== null; },
  u: () => go(".trail li:nth-last-child(2) a"),
  x: () => { const box = document.activeElement.closest("tr")?.querySelector("input[type=checkbox]"); if (box) box.click(); return Boolean(box); },
  o: () => {
    const all = [...document.querySelectorAll("main details")];
    const open = !all.every((one) => one.open);
    for (const one of all) one.open = open;
    return all.length > 0;
  },
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && typing(event)) event.target.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
  if (keys[event.key]?.()) event.preventDefault();
});
