// The console's one script: keeps a page up to date while it is open, counts times, searches while one types.
// Without it every page works; it is then as old as its last load.
(() => {
  "use strict";
  const page = () => document.querySelector("main");
  let skew = 0;
  let pending = false;
  let wanted = false;
  let last = 0;

  document.documentElement.classList.add("scripted");

  // Changes only what differs, so that focus, selection and what is folded open stay as they are.
  function morph(from, to) {
    if (from.isEqualNode(to)) return;
    if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName || (from.id || "") !== (to.id || "")) {
      from.replaceWith(to);
      return;
    }
    if (from.nodeType !== Node.ELEMENT_NODE) {
      from.nodeValue = to.nodeValue;
      return;
    }
    // What the reader did is not in the page that the server wrote: folds, and forms that are on their way.
    const own = (name) => name === "open" || name === "data-sent";
    for (const { name } of [...from.attributes]) {
      if (!to.hasAttribute(name) && !own(name)) from.removeAttribute(name);
    }
    for (const { name, value } of [...to.attributes]) {
      if (from.getAttribute(name) !== value && !own(name)) from.setAttribute(name, value);
    }
    if (from === document.activeElement && from.matches("input, select")) return;
    const [old, next] = [[...from.childNodes], [...to.childNodes]];
    next.forEach((node, at) => (old[at] ? morph(old[at], node) : from.append(node)));
    old.slice(next.length).forEach((node) => node.remove());
  }

  async function refresh() {
    if (document.hidden) {
      wanted = true;
      return;
    }
    const address = location.href;
    last = Date.now();
    try {
      const answer = await fetch(address, { headers: { accept: "text/html" }, credentials: "same-origin" });
      if (address !== location.href) return;
      if (answer.status === 401) {
        location.reload();
        return;
      }
      if (answer.redirected && new URL(answer.url).pathname !== location.pathname) {
        location.reload();
        return;
      }
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const main = fresh.querySelector("main");
      if (!main || !page()) return;
      document.title = fresh.title;
      morph(page(), document.adoptNode(main));
      tick(true);
      listen();
    } catch {
      line("lost");
    }
  }

  // At most twice a second, lists less often, however much happens.
  function soon(wait = 120) {
    if (pending) return;
    pending = true;
    const live = page()?.dataset.live || "";
    const pause = live === "all" || live.includes(" ") ? 1500 : 500;
    const gap = Math.max(wait, last + pause - Date.now());
    setTimeout(() => {
      pending = false;
      refresh();
    }, gap);
  }

  const words = { live: "live", lost: "reconnecting", full: "not live" };
  function line(state) {
    const shown = document.querySelector(".line");
    if (!shown) return;
    shown.hidden = !state;
    shown.dataset.line = state || "";
    shown.textContent = words[state] || "connecting";
  }

  // A page that is looked at and shows what changes has one stream, or a pace of its own; any other has none.
  let events = null;
  let pace = null;
  function listen() {
    const about = document.hidden ? "" : page()?.dataset.live || "";
    const paced = about.startsWith("every:");
    if (!about || paced) close();
    if (pace && !paced) {
      clearInterval(pace);
      pace = null;
    }
    if (!about) {
      if (!document.hidden) line("");
      return;
    }
    if (paced) {
      pace ??= setInterval(refresh, Number(about.slice(6)));
      line("live");
      return;
    }
    if (!events) open();
  }

  function close() {
    events?.close();
    events = null;
    delete document.documentElement.dataset.stream;
  }

  function open() {
    const own = new EventSource("/console/events");
    events = own;
    document.documentElement.dataset.stream = "open";
    // What happened between the load and now was told to nobody.
    own.addEventListener("open", () => {
      line("live");
      soon();
    });
    own.addEventListener("error", () => {
      // A browser tries again by itself, unless it was refused: there may be too many open pages.
      const refused = own.readyState === EventSource.CLOSED;
      line(refused ? "full" : "lost");
      if (!refused || events !== own) return;
      close();
      setTimeout(listen, 15000);
    });
    own.addEventListener("operation", (event) => {
      const now = (page()?.dataset.live || "").split(" ");
      const { operation, instance } = JSON.parse(event.data);
      if (!now[0]) return;
      if (!operation || now[0] === "all" || now.includes(operation) || now.includes(instance)) soon();
    });
  }

  // Times
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  function span(seconds) {
    const at = units.findIndex(([, size]) => seconds >= size);
    if (at < 0) return "0 s";
    const [unit, size] = units[at];
    const rest = units[at + 1];
    const whole = Math.floor(seconds / size);
    const more = rest ? Math.floor((seconds % size) / rest[1]) : 0;
    return more ? `${whole} ${unit} ${more} ${rest[0]}` : `${whole} ${unit}`;
  }
  function tick(fresh) {
    const stamp = Number(page()?.dataset.now);
    if (fresh && stamp) skew = stamp - Date.now();
    const now = Date.now() + skew;
    for (const shown of document.querySelectorAll("[data-until]")) {
      const left = Math.ceil((Number(shown.dataset.until) - now) / 1000);
      if (left > 0) shown.textContent = `in ${span(left)}`;
      else if (!shown.dataset.over) {
        shown.dataset.over = "yes";
        shown.textContent = "now";
        soon(900);
      }
    }
    for (const shown of document.querySelectorAll("[data-since]")) {
      shown.textContent = span(Math.max(0, Math.floor((now - Number(shown.dataset.since)) / 1000)));
    }
  }

  // Searching while one types; the address follows.
  let typing;
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-search]");
    if (!form) return;
    clearTimeout(typing);
    typing = setTimeout(() => {
      const query = new URLSearchParams(new FormData(form));
      for (const [name, value] of [...query]) if (!value) query.delete(name);
      history.replaceState(null, "", `${form.getAttribute("action")}${query.size ? `?${query}` : ""}`);
      refresh();
    }, 250);
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard?.writeText(button.dataset.copy);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1200);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input, select, textarea")) return;
    const field = document.querySelector("[data-search] input");
    event.preventDefault();
    if (field) field.focus();
    else location.assign("/console/runtimes");
  });

  document.addEventListener("visibilitychange", () => {
    listen();
    if (!document.hidden && wanted) {
      wanted = false;
      refresh();
    }
  });
  addEventListener("pagehide", close);
  // A page that comes back from the browser's memory begins anew.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
    listen();
    soon();
  });

  // A form that changes something is sent once, however often one clicks.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });

  tick(true);
  setInterval(tick, 1000);
  listen();
})();
