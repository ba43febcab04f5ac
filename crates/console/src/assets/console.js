// The console's one script: keeps a page up to date while it is open, counts times, searches while one types.
// Without it every page works; it is then as old as its last load.
(() => {
  "use strict";
  const page = () => document.querySelector("main");
  let skew = 0;
  let timer = 0;
  let wanted = false;
  let last = 0;
  let asked = 0;
  // The last good page stays while the server cannot be reached: since when, and how often it was tried.
  let lostAt = 0;
  let tries = 0;
  let retryAt = 0;
  // A page that takes longer does not come any more.
  const PATIENCE = 20000;
  const [FIRST_PAUSE, LONGEST_PAUSE] = [1000, 30000];

  document.documentElement.classList.add("scripted");

  // Changes only what differs, so that focus, selection and what is folded open stay as they are.
  function morph(from, to) {
    if (from.isEqualNode(to)) return;
    // What the reader shall select by hand stays whole.
    if (from.dataset?.kept) return;
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
    if (from === document.activeElement && from.matches("input, select, textarea")) return;
    children(from, to);
  }

  // Whether the reader has the focus or a selection in there.
  function holds(node) {
    const chosen = document.getSelection();
    const selected = chosen && !chosen.isCollapsed && (node.contains(chosen.anchorNode) || node.contains(chosen.focusNode));
    return selected || node.contains(document.activeElement);
  }

  // What has an id stays itself wherever it goes: a new row above changes none of those below it.
  function children(from, to) {
    const coming = new Set([...to.children].map((node) => node.id));
    const known = new Map();
    for (const node of [...from.children]) {
      if (!node.id) continue;
      if (coming.has(node.id)) known.set(node.id, node);
      else node.remove();
    }
    let at = from.firstChild;
    for (const node of [...to.childNodes]) {
      const own = node.id ? known.get(node.id) : null;
      if (own) {
        known.delete(node.id);
        // A row that is moved loses the focus and what is selected in it: then the others are moved.
        while (at !== own && holds(own)) {
          const next = at.nextSibling;
          from.append(at);
          at = next;
        }
        if (at === own) at = own.nextSibling;
        else from.insertBefore(own, at);
        morph(own, node);
      } else if (node.id || !at || at.id) {
        from.insertBefore(node, at);
      } else {
        const old = at;
        at = at.nextSibling;
        morph(old, node);
      }
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  async function refresh() {
    if (document.hidden) {
      wanted = true;
      return;
    }
    const address = location.href;
    const own = ++asked;
    last = Date.now();
    let fresh;
    try {
      const answer = await fetch(address, { headers: { accept: "text/html" }, credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE) });
      if (address !== location.href || own !== asked) return;
      if (answer.status === 401 || (answer.redirected && new URL(answer.url).pathname !== location.pathname)) {
        location.reload();
        return;
      }
      // An answer about the server is no answer about what the page shows.
      if (answer.status >= 500 || answer.status === 408 || answer.status === 429) throw new Error(`status ${answer.status}`);
      fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!fresh.querySelector("main")) throw new Error("another page");
    } catch {
      if (address === location.href && own === asked) lose();
      return;
    }
    if (address !== location.href || own !== asked || !page()) return;
    found();
    document.title = fresh.title;
    morph(page(), document.adoptNode(fresh.querySelector("main")));
    tick(true);
    listen();
  }

  // Keeps the page and tries again, each time later than before.
  function lose() {
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries) * (0.75 + Math.random() / 2);
    tries += 1;
    retryAt = Date.now() + pause;
    clearTimeout(timer);
    timer = 0;
    miss();
    soon(pause);
  }

  function miss() {
    lostAt ||= Date.now();
    line();
  }

  function found() {
    // What was refused while the server was away is asked for again.
    if (lostAt) {
      clearTimeout(refused);
      refused = 0;
    }
    [lostAt, tries, retryAt] = [0, 0, 0];
    line();
  }

  // At most twice a second, lists less often, however much happens.
  function soon(wait = 120) {
    if (timer) return;
    const live = page()?.dataset.live || "";
    const pause = live === "all" || live.includes(" ") ? 1500 : 500;
    const now = Date.now();
    timer = setTimeout(() => {
      timer = 0;
      refresh();
    }, Math.max(wait, last + pause - now, retryAt - now));
  }

  const words = { live: "live", lost: "reconnecting", full: "not live" };
  let standing = "";
  function line(state = standing) {
    standing = state;
    const shown = document.querySelector(".line");
    if (!shown) return;
    const status = lostAt ? "lost" : state;
    shown.hidden = !status;
    shown.dataset.line = status;
    const since = () => `cannot be reached since ${new Date(lostAt + skew).toISOString().slice(11, 19)} UTC`;
    write(shown, lostAt ? since() : words[status] || "connecting");
  }

  // A text that is the same stays, and what is selected in it.
  function write(node, text) {
    const [only] = node.childNodes;
    if (only && node.childNodes.length === 1 && only.nodeType === Node.TEXT_NODE) {
      if (only.nodeValue !== text) only.nodeValue = text;
    } else node.textContent = text;
  }

  // A page that is looked at and shows what changes has one stream, or a pace of its own; any other has none.
  let events = null;
  let pace = null;
  // A page that was refused a stream asks for one later.
  let refused = 0;
  const REFUSED_PAUSE = 15000;
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
      pace ??= setInterval(() => soon(0), Number(about.slice(6)));
      line("live");
      return;
    }
    if (!events && !refused) open();
  }

  function refuse() {
    close();
    clearTimeout(refused);
    refused = setTimeout(() => {
      refused = 0;
      listen();
    }, REFUSED_PAUSE);
    // It is no older than that; and whether it is the server or the session, the page says.
    soon();
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
    // Events between the load and now were sent to nobody.
    own.addEventListener("open", () => {
      line("live");
      // The server is back: whatever was waited for is over.
      retryAt = 0;
      clearTimeout(timer);
      timer = 0;
      soon();
    });
    own.addEventListener("error", () => {
      // A browser tries again by itself, unless it was refused: there may be too many open pages.
      const closed = own.readyState === EventSource.CLOSED;
      line(closed ? "full" : "lost");
      if (!closed) miss();
      if (closed && events === own) refuse();
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
      if (left > 0) write(shown, `in ${span(left)}`);
      else if (!shown.dataset.over) {
        shown.dataset.over = "yes";
        write(shown, "now");
        soon(900);
      }
    }
    for (const shown of document.querySelectorAll("[data-since]")) {
      write(shown, span(Math.max(0, Math.floor((now - Number(shown.dataset.since)) / 1000))));
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
    const done = await copy(button);
    button.textContent = done ? "copied" : "select and copy";
    if (done) setTimeout(() => { if (button.textContent === "copied") button.textContent = "copy"; }, 1200);
  });

  // Without TLS there is no clipboard: then by a selection, or by the reader, who sees the whole text.
  async function copy(button) {
    const text = button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { /* not offered, or not allowed */ }
    const field = document.createElement("textarea");
    field.value = text;
    field.readOnly = true;
    field.className = "unseen";
    button.after(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    button.focus();
    if (!done) {
      write(button.previousElementSibling, text);
      for (const node of [button, button.previousElementSibling]) node.dataset.kept = "yes";
    }
    return done;
  }

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
    // A file that is saved leaves the page where it is.
    if (form.method !== "post" || form.hasAttribute("data-download")) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });

  tick(true);
  setInterval(tick, 1000);
  listen();
})();
