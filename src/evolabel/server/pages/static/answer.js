// The answer page with a script: keys, the next question without loading the page, answers kept while offline.
// Everything here is also possible without it, by the forms of the page.
"use strict";
(() => {
  const KEPT = `evolabel-unsent:${document.body.dataset.person}:${location.pathname}`;
  const RETRY = 3000, POLL = 30000, RENEW = 120000, DRAFT = 1500, MOST_WAIT = 15000;
  const live = document.getElementById("live");
  const dialog = document.getElementById("keys");
  const main = () => document.getElementById("main");
  const form = () => document.getElementById("ask");
  const rows = () => [...document.querySelectorAll(".asked .ask-row")];
  const chosen = row => row.querySelector("input:checked");
  const current = () => document.querySelector(".ask-row.is-current");
  let busy = false, polling = false, pollAgain = false, drafted = 0;

  document.documentElement.classList.add("js");

  function say(text) {
    live.textContent = "";
    setTimeout(() => { live.textContent = text; }, 50);
  }

  // ---------------------------------------------------------------- rows
  function go(row, focus = true) {
    current()?.classList.remove("is-current");
    if (!row) return;
    row.classList.add("is-current");
    if (focus) {
      (chosen(row) || row.querySelector("input")).focus({ preventScroll: true });
      row.scrollIntoView({ block: "nearest" });
    }
  }

  function step(by) {
    const all = rows();
    go(all[Math.min(Math.max(all.indexOf(current()) + by, 0), all.length - 1)]);
  }

  function count() {
    const line = document.getElementById("progress");
    if (line) line.textContent = line.dataset.text.replace("{}", rows().filter(chosen).length);
  }

  function choose(row, value) {
    row.querySelector(`input[value="${value}"]`).checked = true;
    row.classList.remove("is-open");
    count();
    const word = { 1: "yes", 0: "no", u: "unsure" }[value];
    say(live.dataset[word].replace("{}", row.dataset.name));
    clearTimeout(drafted);
    drafted = setTimeout(keepDraft, DRAFT);
  }

  function keepDraft() {
    if (!form() || busy) return;
    const data = new URLSearchParams(new FormData(form())).toString();
    request(`${main().dataset.base}/questions/${main().dataset.number}/draft`, data).catch(() => {});
  }

  function chooseAndNext(value) {
    const row = current() || rows()[0];
    choose(row, value);
    const all = rows(), place = all.indexOf(row);
    if (place >= 0) go(all.slice(place + 1).find(other => !chosen(other)) || all[place + 1] || row);
  }

  // ---------------------------------------------------------------- sending
  function show(html) {
    const box = document.createElement("template");
    box.innerHTML = html;
    const fresh = box.content.getElementById("main");
    if (!fresh) { location.reload(); return; }
    main().replaceWith(fresh);
    document.body.classList.toggle("pinned", !!form());
    const badge = document.getElementById("count");
    badge.firstElementChild.textContent = fresh.dataset.waiting;
    badge.hidden = fresh.dataset.waiting === "0";
    say(fresh.dataset.say);
    if (document.querySelector("#last [data-left]")) [1500, 4000].forEach(wait => setTimeout(refreshLast, wait));  // what it will change
    const row = document.querySelector(".ask-row.is-open") || current() || rows()[0];
    if (row) go(row);
    else { fresh.tabIndex = -1; fresh.focus(); }
    scrollTo(0, 0);
    document.querySelector(".scroll")?.scrollTo(0, 0);
  }

  const request = (url, body) => fetch(url, {
    method: body === undefined ? "GET" : "POST", body, credentials: "same-origin", signal: AbortSignal.timeout(MOST_WAIT),
    headers: {
      "X-Fragment": "1", "Accept": "text/html", "X-CSRF-Token": document.body.dataset.csrf,
      ...(body === undefined ? {} : { "Content-Type": "application/x-www-form-urlencoded" }),
    },
  });

  async function send(url, body) {
    if (busy) return;
    busy = true;
    clearTimeout(drafted);
    let answer = null, html = "";
    try {
      answer = await request(url, body);
      html = await answer.text();
    } catch { answer = null; }
    if (answer === null || [502, 503, 504, 507].includes(answer.status)) { keep(url, body); return; }
    if (answer.status === 401) {  // sent again after the person has signed in
      sessionStorage.setItem(KEPT, JSON.stringify([url, body]));
      location.reload();
      return;
    }
    sessionStorage.removeItem(KEPT);
    document.getElementById("unsent")?.remove();
    busy = false;
    if (answer.ok || answer.status === 422) show(html);
    else document.documentElement.innerHTML = html;
  }

  function keep(url, body) {
    sessionStorage.setItem(KEPT, JSON.stringify([url, body]));
    if (!document.getElementById("unsent")) {
      const note = document.createElement("p");
      note.id = "unsent";
      note.className = "note warn";
      note.textContent = live.dataset.offline;
      (document.querySelector(".foot") || main()).prepend(note);
      say(live.dataset.offline);
    }
    setTimeout(() => { busy = false; sendKept(); }, RETRY);
  }

  function sendKept() {
    const kept = sessionStorage.getItem(KEPT);
    if (kept) send(...JSON.parse(kept));
  }

  function submit(event) {
    const sent = event.target;
    if (!sent.matches("#ask, .undo")) return;
    event.preventDefault();
    const data = new URLSearchParams(new FormData(sent));
    const act = event.submitter?.value || "send";
    if (sent.id === "ask") {
      data.set("act", act);
      const open = rows().filter(row => !chosen(row));
      if (act === "send" && open.length && !sent.dataset.asIs) {
        const text = open.length === 1 ? live.dataset.openOne : live.dataset.openMany;
        open.forEach(row => row.classList.add("is-open"));
        go(open[0]);
        say(text.replace("{n}", open.length).replace("{}", open[0].dataset.name));
        return;
      }
      if (sent.dataset.asIs) data.set("as_is", "1");
    }
    send(sent.getAttribute("action"), data.toString());
  }

  // ---------------------------------------------------------------- keys
  const actions = {
    y: () => chooseAndNext("1"), a: () => chooseAndNext("1"),
    n: () => chooseAndNext("0"), x: () => chooseAndNext("0"),
    u: () => chooseAndNext("u"),
    j: () => step(1), k: () => step(-1),
    s: () => document.getElementById("skip").click(),
    r: () => document.getElementById("refuse").click(),
    e: () => document.querySelector(".last .explain")?.click(),
    "?": () => dialog.showModal(),
    backspace: undo,
  };

  function undo() { document.querySelector(".undo")?.requestSubmit(); }

  function digit(code) {
    const place = Number(code.replace(/^(Digit|Numpad)/, ""));
    if (place > 0) { if (rows()[place - 1]) go(rows()[place - 1]); return; }
    rows().filter(row => !chosen(row)).forEach(row => choose(row, "0"));
    go(rows().at(-1));
  }

  function press(event) {
    const target = event.target, control = event.ctrlKey || event.metaKey;
    if (dialog.open || event.altKey || event.isComposing || !form()) {
      if (!form() && event.key === "Backspace" && !control && !dialog.open) undo();
      return;
    }
    if (target.matches("textarea, input:not([type=radio])")) return;
    if (event.key === "Enter" && !event.repeat && !target.closest("button, a, summary")) {
      event.preventDefault();
      if (control) form().dataset.asIs = "1";
      document.getElementById("send").click();
      delete form()?.dataset.asIs;
      return;
    }
    if (control && event.key.toLowerCase() === "z") { event.preventDefault(); undo(); return; }
    if (control || event.repeat || document.body.dataset.keys === "off") return;
    if (/^(Digit|Numpad)[0-9]$/.test(event.code) && !event.shiftKey) { event.preventDefault(); digit(event.code); return; }
    const action = actions[event.key.toLowerCase()];
    if (action) { event.preventDefault(); action(); }
  }

  // ---------------------------------------------------------------- time
  async function refreshLast() {
    try {
      const answer = await request(main().dataset.base + "/answer/last");
      if (!answer.ok) return;
      const box = document.createElement("template");
      box.innerHTML = await answer.text();
      document.getElementById("last")?.replaceWith(box.content.getElementById("last"));
      if (!document.querySelector("#last [data-left]")) document.querySelector(".sent-line")?.remove();
    } catch { /* the next answer brings it */ }
  }

  function tick() {
    let ended = false;
    for (const line of document.querySelectorAll("[data-left]")) {
      const left = Number(line.dataset.left) - 1;
      line.dataset.left = left;
      if (left < 0) { ended = true; delete line.dataset.left; }
      else line.textContent = line.closest(".sent-line") ? `${left} s` : live.dataset.seconds.replace("{}", left);
    }
    if (ended) [500, 3000].forEach(wait => setTimeout(refreshLast, wait));
  }

  // One fetch at a time; events during it lead to one more. A question on the page is never drawn again.
  async function poll() {
    if (polling) { pollAgain = true; return; }
    polling = true;
    do {
      pollAgain = false;
      if (form() || busy || document.hidden) break;
      try {
        const answer = await request(main().dataset.base + "/answer");
        const html = await answer.text();
        if (answer.ok && html.includes('id="ask"') && !form() && !busy) show(html);
      } catch { /* tried again */ }
    } while (pollAgain);
    polling = false;
  }

  function renew() {
    if (form() && !document.hidden) request(`${main().dataset.base}/questions/${main().dataset.number}/lease`, "").catch(() => {});
  }

  document.addEventListener("submit", submit);
  document.addEventListener("keydown", press);
  document.addEventListener("focusin", event => {
    const row = event.target.closest?.(".ask-row");
    if (row) go(row, false);
  });
  document.addEventListener("change", event => {
    const row = event.target.closest(".ask-row");
    if (row) choose(row, event.target.value);
  });
  document.addEventListener("click", event => { if (event.target.closest("#all-keys")) dialog.showModal(); });
  document.addEventListener("evolabel", event => {
    if (["question", "waiting", "reset"].includes(event.detail.name)) poll();
    if (event.detail.name === "final") [0, 2500].forEach(wait => setTimeout(refreshLast, wait));  // what it has changed
  });
  addEventListener("online", () => { busy = false; sendKept(); });
  setInterval(tick, 1000);
  setInterval(poll, POLL);
  setInterval(renew, RENEW);
  sendKept();
  if (form()) go(current() || rows()[0], false);
})();
