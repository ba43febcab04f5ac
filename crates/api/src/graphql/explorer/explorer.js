// A page to try the API with. Texts from answers only ever become text, never markup.
"use strict";

const HEADERS = ["tenant", "sub-account", "idempotency-key"];
const KEPT = [...HEADERS.slice(0, 2), "query", "variables"];
const FIRST = `# Ctrl+Enter runs it.
query {
  runtimeStatus(id: "…") {
    lastOperationStatus { id operation state message errors }
    runtimeConnectionStatus { status errors { message } }
  }
}`;
const SCHEMA = `{ __schema { types { kind name description
  fields { name description type { ...Kind } args { name type { ...Kind } } }
  inputFields { name description type { ...Kind } }
  enumValues { name description } possibleTypes { name } } } }
fragment Kind on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;

const part = (id) => document.getElementById(id);

async function ask(query, variables) {
  const headers = { "Content-Type": "application/json" };
  const token = part("token").value.trim();
  if (token) headers.Authorization = `Bearer ${token}`;
  for (const name of HEADERS) {
    const value = part(name).value.trim();
    if (value) headers[name] = value;
  }
  const body = JSON.stringify({ query, variables });
  const response = await fetch("graphql", { method: "POST", headers, body });
  return { status: response.status, answer: await response.json() };
}

async function run() {
  for (const id of KEPT) sessionStorage.setItem(id, part(id).value);
  const began = performance.now();
  try {
    const variables = JSON.parse(part("variables").value.trim() || "{}");
    const { status, answer } = await ask(part("query").value, variables);
    const bad = status !== 200 || answer.errors;
    show(`${status} in ${Math.round(performance.now() - began)} ms`, JSON.stringify(answer, null, 2), bad);
  } catch (error) {
    show("No answer", String(error), true);
  }
}

function show(status, text, bad) {
  part("status").textContent = status;
  part("status").classList.toggle("bad", Boolean(bad));
  part("answer").textContent = text;
}

function written(type) {
  if (type.kind === "NON_NULL") return `${written(type.ofType)}!`;
  if (type.kind === "LIST") return `[${written(type.ofType)}]`;
  return type.name;
}

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function line(member) {
  const taken = (member.args || []).map((arg) => `${arg.name}: ${written(arg.type)}`).join(", ");
  const type = member.type ? `: ${written(member.type)}` : "";
  const item = element("li");
  item.append(element("code", `${member.name}${taken ? `(${taken})` : ""}${type}`));
  if (member.description) item.append(element("div", member.description, "words"));
  return item;
}

function card(type) {
  const members = type.fields || type.inputFields || type.enumValues || type.possibleTypes || [];
  const box = element("details");
  box.open = ["Query", "Mutation"].includes(type.name);
  box.dataset.words = [type.name, ...members.map((member) => member.name)].join(" ").toLowerCase();
  const list = element("ul");
  list.append(...members.map(line));
  box.append(element("summary", type.name), element("div", type.description, "words"), list);
  return box;
}

async function load() {
  const { status, answer } = await ask(SCHEMA, {});
  if (status !== 200) return show(`${status}`, JSON.stringify(answer, null, 2), true);
  const rank = (type) => ["Query", "Mutation"].indexOf(type.name) >>> 0;
  const types = answer.data.__schema.types.filter((type) => !type.name.startsWith("__"));
  types.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  part("types").replaceChildren(...types.map(card));
}

function filter() {
  const wanted = part("filter").value.trim().toLowerCase();
  for (const box of part("types").querySelectorAll("details")) {
    box.hidden = !box.dataset.words.includes(wanted);
  }
}

part("query").value = FIRST;
for (const id of KEPT) part(id).value = sessionStorage.getItem(id) ?? part(id).value;
part("run").addEventListener("click", run);
part("load").addEventListener("click", () => load().catch((error) => show("No answer", String(error), true)));
part("filter").addEventListener("input", filter);
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") run();
});
