// Pages follow the project: one stream of events per browser. The tab that holds the lock reads it and passes the events
// on to the others; each tab dispatches them as "evolabel" on its document.
"use strict";
(() => {
  const base = document.body.dataset.base;
  if (!base || !window.EventSource) return;
  const NAMES = ["question", "closed", "final", "waiting", "sample", "act", "state", "reset"];
  const AGAIN = 15000, REFRESH = 3000, REFRESH_SAMPLES = 15000, STALE = 60000, MOST_WAIT = 15000;
  const shared = `evolabel:${document.body.dataset.person}:${base}`;
  const channel = window.BroadcastChannel ? new BroadcastChannel(shared) : null;
  const dispatch = (name, data, seq) =>
    document.dispatchEvent(new CustomEvent("evolabel", { detail: { name, data, seq } }));

  // ---------------------------------------------------------------- the stream
  const readStream = () => new Promise(ended => {
    const source = new EventSource(`${base}/live`);
    for (const name of NAMES) {
      source.addEventListener(name, event => {
        const found = [name, JSON.parse(event.data), Number(event.lastEventId)];
        channel?.postMessage(found);
        dispatch(...found);
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
  // It has the number of the last record that it shows; it is fetched again when a later one was heard of. Times and
  // checks on it grow old without any record: while it is seen, it is fetched once a minute.
  const loaded = Date.now();
  let due = 0, dueAt = Infinity, last = 0, heard = 0, fetching = false;
  const shown = () => document.getElementById("main")?.dataset.seq;  // undefined: the page stays as it is
  const isOld = () => heard > Number(shown());
  const isStale = () => Date.now() - Math.max(last, loaded) >= STALE;

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
    dueAt = Infinity;
    if (shown() === undefined || document.hidden || fetching) return;
    last = Date.now();
    fetching = true;
    const isShown = await fetchMain().catch(() => false).finally(() => { fetching = false; });
    if (isShown && isOld()) refreshSoon(REFRESH);
  }

  async function fetchMain() {
    const signal = AbortSignal.timeout(MOST_WAIT);
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin", signal });
    if (!answer.ok || answer.redirected) return false;
    const html = await answer.text(), main = document.getElementById("main");
    const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("main");
    if (!fresh) return false;
    const parts = (root, what) => [...root.querySelectorAll(what)];
    const folds = namedFolds(main), focusable = "a, button, summary, input, select, pre";
    for (const [name, fold] of namedFolds(fresh)) fold.open = folds.get(name)?.open ?? fold.open;
    const focused = parts(main, focusable).indexOf(document.activeElement);
    main.replaceWith(fresh);
    if (focused >= 0) parts(fresh, focusable)[focused]?.focus({ preventScroll: true });
    return true;
  }

  function refreshSoon(every) {
    const at = Math.max(Date.now() + 300, last + every);
    if (at >= dueAt) return;
    clearTimeout(due);
    dueAt = at;
    due = setTimeout(refresh, at - Date.now());
  }

  document.addEventListener("evolabel", event => {
    const { name, data, seq = 0 } = event.detail, mark = document.getElementById("following"), badge = document.getElementById("count");
    if (mark) mark.hidden = name === "lost" || (name === "state" && !data.ready);
    if (name === "waiting" && badge) {
      badge.firstElementChild.textContent = data.n;
      badge.hidden = data.n === 0;
    }
    heard = Math.max(heard, seq);
    if (isOld() || (name === "state" && !data.ready)) refreshSoon(name === "sample" ? REFRESH_SAMPLES : REFRESH);
  });
  const look = () => { if (!document.hidden && (isOld() || isStale())) refreshSoon(REFRESH); };
  document.addEventListener("visibilitychange", look);
  setInterval(() => { if (isStale()) look(); }, STALE / 4);
  if (channel) channel.onmessage = event => dispatch(...event.data);
  follow();
})();
