// Pages follow the project: one stream of events per browser. The tab that holds the lock reads it and passes the events
// on to the others; each tab dispatches them as "evolabel" on its document.
"use strict";
(() => {
  const base = document.body.dataset.base;
  if (!base || !window.EventSource) return;
  const NAMES = ["question", "closed", "final", "waiting", "sample", "act", "state", "reset"];
  const AGAIN = 15000, REFRESH = 3000;
  const shared = `evolabel:${document.body.dataset.person}:${base}`;
  const channel = window.BroadcastChannel ? new BroadcastChannel(shared) : null;
  const dispatch = (name, data) => document.dispatchEvent(new CustomEvent("evolabel", { detail: { name, data } }));

  // ---------------------------------------------------------------- the stream
  const readStream = () => new Promise(ended => {
    const source = new EventSource(`${base}/live`);
    for (const name of NAMES) {
      source.addEventListener(name, event => {
        const data = JSON.parse(event.data);
        channel?.postMessage([name, data]);
        dispatch(name, data);
      });
    }
    source.onerror = () => {
      channel?.postMessage(["lost", {}]);
      dispatch("lost", {});
      if (source.readyState === EventSource.CLOSED) setTimeout(ended, AGAIN);
    };
  });

  async function follow() {
    for (;;) await (navigator.locks ? navigator.locks.request(shared, readStream) : readStream());
  }

  // ---------------------------------------------------------------- the page
  let due = 0, last = 0;

  // Folds by their heading and their place among those with the same one: others may have come or gone in between.
  function namedFolds(root) {
    const found = new Map();
    for (const fold of root.querySelectorAll("details")) {
      const heading = fold.querySelector("summary")?.textContent.trim();
      let place = 0;
      while (found.has(`${heading} ${place}`)) place += 1;
      found.set(`${heading} ${place}`, fold);
    }
    return found;
  }

  async function refresh() {
    due = 0;
    const main = document.getElementById("main");
    if (!main?.hasAttribute("data-live") || document.hidden) return;
    last = Date.now();
    let html;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
      if (!answer.ok || answer.redirected) return;
      html = await answer.text();
    } catch { return; }
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("main");
    if (!fresh) return;
    const parts = (root, what) => [...root.querySelectorAll(what)];
    const folds = namedFolds(main), focusable = "a, button, summary, input, select, pre";
    for (const [name, fold] of namedFolds(fresh)) fold.open = folds.get(name)?.open ?? fold.open;
    const focused = parts(main, focusable).indexOf(document.activeElement);
    main.replaceWith(fresh);
    if (focused >= 0) parts(fresh, focusable)[focused]?.focus({ preventScroll: true });
  }

  function refreshSoon() {
    if (!due) due = setTimeout(refresh, Math.max(300, last + REFRESH - Date.now()));
  }

  document.addEventListener("evolabel", event => {
    const { name, data } = event.detail, mark = document.getElementById("following"), badge = document.getElementById("count");
    if (mark) mark.hidden = name === "lost" || (name === "state" && !data.ready);
    if (name === "waiting" && badge) {
      badge.firstElementChild.textContent = data.n;
      badge.hidden = data.n === 0;
    }
    if (name !== "lost") refreshSoon();
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refreshSoon(); });
  if (channel) channel.onmessage = event => dispatch(...event.data);
  follow();
})();
