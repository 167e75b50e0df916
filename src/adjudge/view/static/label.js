// Keys for labelling. The page works without them.
"use strict";

const answers = document.getElementById("answers");
let sent = false;
const answerOf = { y: "right", ArrowRight: "right", n: "wrong", ArrowLeft: "wrong", u: "unsure", s: "skip" };
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const back = event.key === "b" ? document.getElementById("back") : null;
  const button = answers && answers.querySelector(`button[value="${answerOf[event.key]}"]`);
  if (!back && !button) return;
  // Keys of other pages, such as u for the way back, do not count here.
  event.stopPropagation();
  event.preventDefault();
  // A key that is held down, or pressed twice, must not label a row that nobody has seen.
  if (event.repeat || sent) return;
  sent = true;
  (back || button).click();
}, true);
window.addEventListener("pageshow", () => { sent = false; });
