// Keys of the page of rules: / search, J and K next and previous rule, L lock or unlock. Enter opens a rule by itself.
"use strict";
document.documentElement.classList.add("js");
document.addEventListener("keydown", (event) => {
  if (document.body.dataset.keys === "off" || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest("input, textarea, select")) return;
  const rules = [...document.querySelectorAll(".rule > summary")];
  const own = event.target.closest(".rule");
  const now = own ? rules.indexOf(own.querySelector("summary")) : -1;
  const key = event.key.toLowerCase();
  if (key === "/") {
    document.getElementById("q")?.focus();
  } else if (key === "j") {
    rules[Math.min(now + 1, rules.length - 1)]?.focus();
  } else if (key === "k") {
    rules[Math.max(now - 1, 0)]?.focus();
  } else if (key === "l" && own) {
    const lock = own.querySelector('[data-act="lock"]'), live = document.getElementById("live");
    if (lock) lock.closest("form").requestSubmit();
    else { live.hidden = false; live.lastElementChild.textContent = live.dataset.noLock; }
  } else {
    return;
  }
  event.preventDefault();
});
// An undo that was begun: the page looks again until it has ended.
if (document.getElementById("live")?.hasAttribute("data-runs")) setTimeout(() => location.reload(), 2000);
