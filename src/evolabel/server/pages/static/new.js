// A file is sent with its progress, the budget is put in words, and the rows that were sent are counted on.
"use strict";
(() => {
  // ---------------------------------------------------------------- the file
  const send = document.getElementById("send");
  if (send) {
    const drop = document.getElementById("drop"), file = document.getElementById("file"), wrong = document.getElementById("wrong");
    const sending = document.getElementById("sending"), sent = document.getElementById("sent"), button = send.querySelector("button");
    const complain = text => {
      wrong.querySelector("span").textContent = text;
      wrong.hidden = false;
      sending.hidden = true;
      button.disabled = false;
    };
    for (const name of ["dragenter", "dragover", "dragleave", "drop"]) {
      drop.addEventListener(name, event => {
        event.preventDefault();
        drop.classList.toggle("is-over", name === "dragenter" || name === "dragover");
        if (name === "drop" && event.dataTransfer.files.length) {
          file.files = event.dataTransfer.files;
          send.requestSubmit();
        }
      });
    }
    send.addEventListener("submit", event => {
      event.preventDefault();
      const request = new XMLHttpRequest();
      request.open("POST", send.action);
      request.setRequestHeader("Accept", "text/html");
      request.upload.onprogress = part => { sent.value = part.lengthComputable ? 100 * part.loaded / part.total : 0; };
      request.onerror = request.ontimeout = () => complain(wrong.dataset.cutOff);
      request.onload = () => {
        if (request.status < 400) { location.assign(request.responseURL); return; }
        const answer = new DOMParser().parseFromString(request.responseText, "text/html");
        complain((answer.querySelector("#wrong span") ?? answer.querySelector("main"))?.textContent.trim() || wrong.dataset.cutOff);
      };
      wrong.hidden = true;
      sending.hidden = false;
      button.disabled = true;
      request.send(new FormData(send));
    });
  }

  // ---------------------------------------------------------------- labels and budget
  const choices = document.getElementById("choices");
  if (choices) {
    const labels = document.getElementById("labels"), day = document.getElementById("day"), lines = () => labels.value.split("\n").filter(line => line.trim());
    const nameOf = line => line.split(":")[0].trim();
    const say = () => {
      const per = choices.elements.per.value, share = Number(choices.elements.budget.value.replace(",", ".")) / 100;
      const samples = Math.round(Number(choices.elements.a_day.value)), n = Math.max(1, lines().length);
      const most = share * samples * (per === "labels" ? n : 1), write = value => Math.round(value).toLocaleString(document.documentElement.lang);
      day.querySelector("span").textContent = Number.isFinite(most) && most > 0
        ? day.dataset[per].replace("{samples}", write(samples)).replace("{most}", write(most)).replace("{labels}", n) : "";
    };
    choices.addEventListener("input", say);
    choices.addEventListener("change", event => {
      const column = event.target.dataset.column;
      if (!column) return;
      const others = lines().filter(line => nameOf(line) !== column);
      if (event.target.value === "label") labels.value = [...others, column].join("\n");
      else labels.value = others.join("\n");
      if (event.target.value === "class") choices.elements.one_of.value = "one";
      say();
    });
    say();
  }

  // ---------------------------------------------------------------- the rows
  async function count() {
    const shown = document.getElementById("progress");
    if (!shown || !("running" in shown.dataset)) return;
    if (!document.hidden) {
      const answer = await fetch(shown.dataset.here, { headers: { Accept: "text/html" }, credentials: "same-origin" }).catch(() => null);
      const fresh = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("progress");
      if (fresh && !shown.contains(document.activeElement)) shown.replaceWith(fresh);
      else if (fresh) {
        for (const part of ["h2", "header p"]) shown.querySelector(part).textContent = fresh.querySelector(part).textContent;
        shown.querySelector("progress").value = fresh.querySelector("progress").value;
        if (!("running" in fresh.dataset)) shown.replaceWith(fresh);
      }
    }
    setTimeout(count, 1000);
  }
  count();
})();
