//! What must be true of every page: it can be read without seeing it, on a narrow screen, in the light and in the dark. A picture of each
//! is left in `target/console`.
//!
//! What a reader would get wrong: the rules of axe are checked as well, and its absence is a failure. `scripts/test` fetches it; where it
//! cannot reach the package registry, it sets `KCP_WITHOUT_AXE`, and the rules here are all that is checked.

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde_json::Value;

use crate::{TAB, webdriver::Browser};

/// A script that finds accessibility problems of a page.
const SCRIPT: &str = r"
const wrong = [];
const say = (problem, node) => wrong.push(`${problem}: ${node ? node.outerHTML.slice(0, 160) : ''}`);
if (!document.documentElement.lang) say('no language');
if (!document.title.endsWith(' · kcp')) say('no title');
for (const one of ['main', 'h1', 'header.top', 'nav[aria-label=Main]']) {
  if (document.querySelectorAll(one).length !== 1) say(`not one ${one}`);
}
const levels = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')];
levels.forEach((node, at) => {
  const before = at ? Number(levels[at - 1].tagName[1]) : 0;
  if (Number(node.tagName[1]) > before + 1) say('a heading level is left out', node);
});
if (levels[0]?.tagName !== 'H1') say('the first heading is no h1', levels[0]);
for (const table of document.querySelectorAll('table')) {
  const heads = [...table.querySelectorAll('thead th')];
  if (!heads.length || heads.some((it) => !it.textContent.trim())) say('a table without headers', table);
  const shown = (row) => [...row.children].filter((it) => it.checkVisibility()).reduce((sum, it) => sum + it.colSpan, 0);
  for (const row of table.querySelectorAll('tbody tr')) {
    if (row.checkVisibility() && shown(row) !== shown(table.querySelector('thead tr'))) say('a row and its headers differ', row);
  }
}
const landmarks = ['HEADER', 'MAIN', 'FOOTER'];
for (const node of document.body.children) {
  if (!landmarks.includes(node.tagName) && !node.matches('a.skip')) say('outside of the landmarks', node);
}
for (const [one, other] of [['nav', 'nav'], ['section', 'section']]) {
  const called = [...document.querySelectorAll(one)].map((it) => it.getAttribute('aria-label') || document.getElementById(it.getAttribute('aria-labelledby'))?.textContent);
  for (const [at, name] of called.entries()) {
    if (other === 'nav' && !name) say('a navigation without a name', document.querySelectorAll(one)[at]);
    if (name && called.indexOf(name) !== at) say(`two of ${one} are called ${name}`);
  }
}
for (const node of document.querySelectorAll('img')) if (!node.alt) say('an image without words', node);
for (const node of document.querySelectorAll('[aria-hidden=true]')) {
  for (const inside of [node, ...node.querySelectorAll('a, button, input, select')]) if (inside.tabIndex >= 0) say('hidden, and reached by keys', inside);
}
for (const node of document.querySelectorAll('[tabindex]')) if (node.tabIndex > 0) say('out of order', node);
const ids = [...document.querySelectorAll('[id]')].map((it) => it.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) say(`id ${id} is there twice`);
for (const field of document.querySelectorAll('input:not([type=hidden]), select, textarea')) {
  if (!field.labels.length && !field.getAttribute('aria-label')) say('no label', field);
}
for (const of of ['aria-labelledby', 'aria-describedby']) for (const node of document.querySelectorAll(`[${of}]`)) {
  if (!document.getElementById(node.getAttribute(of))) say(`${of} leads nowhere`, node);
}
for (const node of document.querySelectorAll('a, button')) {
  if (!(node.getAttribute('aria-label') || node.textContent).trim()) say('no name', node);
}
for (const svg of document.querySelectorAll('svg')) {
  if (!svg.closest('[aria-hidden=true]') && !svg.getAttribute('aria-label') && svg.getAttribute('role') !== 'presentation') say('a picture without words', svg);
}
for (const node of document.querySelectorAll('[style], style, script:not([src]), [onclick]')) say('inline style or script', node);
if (document.documentElement.scrollWidth > innerWidth) {
  const wide = [...document.querySelectorAll('main *')].filter((it) => it.getBoundingClientRect().right > innerWidth + 1);
  say('scrolls sideways', wide.at(-1));
}
const light = (text) => {
  const [r, g, b] = text.match(/[\d.]+/g).map(Number).map((it) => it / 255).map((it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!/, 0\)$/.test(colour)) return colour;
  }
  return 'rgb(255, 255, 255)';
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const node = texts.currentNode.parentElement;
  if (!texts.currentNode.nodeValue.trim() || !node.checkVisibility() || node.closest('.unseen, .skip, svg, option')) continue;
  const [one, other] = [light(getComputedStyle(node).color), light(behind(node))];
  const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (contrast < 4.5) say(`contrast ${contrast.toFixed(2)}`, node);
}
for (const field of document.querySelectorAll('[placeholder]')) {
  const [one, other] = [light(getComputedStyle(field, '::placeholder').color), light(behind(field))];
  const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (contrast < 4.5) say(`contrast of the placeholder ${contrast.toFixed(2)}`, field);
}
return wrong;
";

/// Notes what the Tab key reaches, and what of it does not show that it has the focus.
const FOCUS: &str = r"
window.reached = new Set();
const isStop = (it) => it.tabIndex >= 0 && !it.disabled && it.checkVisibility();
window.unseen = [];
document.addEventListener('focusin', ({ target }) => {
  if (target.matches('main')) return;
  window.reached.add(target);
  const style = getComputedStyle(target);
  if (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2) window.unseen.push(target.outerHTML.slice(0, 160));
});
document.activeElement?.blur();
window.scrollTo(0, 0);
const stops = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')].filter(isStop);
// What was changed by an update meanwhile is no stop any more.
window.missed = () => stops.filter((it) => it.isConnected && isStop(it) && !window.reached.has(it)).map((it) => it.outerHTML.slice(0, 160));
return stops.length;
";

/// How many more stops there are within fields, as in a date, and beyond the page.
const WITHIN_FIELDS: usize = 12;

/// What axe finds that keeps people from using a page.
const AXE_RUN: &str = r"
axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => ['serious', 'critical'].includes(impact))
  .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `axe ${id}: ${html.slice(0, 160)} ${failureSummary}`)))
";

/// The script of axe; none where it cannot be had.
static AXE: LazyLock<Option<String>> = LazyLock::new(|| {
    let mut files = std::fs::read_dir(beside_the_build("axe")).ok()?.filter_map(Result::ok);
    let script = files.find(|it| it.path().extension().is_some_and(|ending| ending == "js"))?;
    Some(std::fs::read_to_string(script.path()).unwrap())
});

/// A folder in the target folder.
fn beside_the_build(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("..").join(name)
}

/// What axe says about the page that is open.
fn axe(browser: &Browser) -> Vec<Value> {
    let Some(script) = AXE.as_ref() else {
        let missing = "axe is missing: scripts/test fetches it, KCP_WITHOUT_AXE=1 goes without it";
        assert!(std::env::var("KCP_WITHOUT_AXE").as_deref() == Ok("1"), "{missing}");
        return vec![];
    };
    if browser.run("return !window.axe") == true {
        browser.run(script);
    }
    let found = browser.settle(AXE_RUN);
    found.as_array().cloned().unwrap_or_else(|| panic!("axe did not end: {found}"))
}

/// Opens a page and checks it.
pub(crate) fn page_at(browser: &Browser, base: &str, path: &str, name: &str) {
    browser.open(&format!("{base}{path}"));
    page(browser, name);
}

/// Checks the page that is open, wide and narrow, light and dark, and leaves pictures of it.
pub(crate) fn page(browser: &Browser, name: &str) {
    let folder = beside_the_build("console");
    std::fs::create_dir_all(&folder).unwrap();
    let mut wrong = Vec::new();
    for (look, width, dark) in
        [("light", 1280, false), ("dark", 1280, true), ("narrow", 360, false)]
    {
        browser.look(width, dark);
        let found = browser.run(SCRIPT);
        let found = found.as_array().unwrap().iter().cloned().chain(axe(browser));
        wrong.extend(found.map(|it: Value| format!("{look}: {it}")));
        browser.picture(&folder.join(format!("{name}-{look}.png")));
    }
    browser.look(1280, false);
    // On a busy machine a browser may lose the focus of its window for a moment: what is wrong with a page is wrong twice.
    let unseen = unseen_focus(browser);
    if !unseen.is_empty() {
        let again = unseen_focus(browser);
        wrong.extend(unseen.into_iter().filter(|it| again.contains(it)));
    }
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}

/// Goes through the page with the Tab key: every stop is reached, and shows that it has the focus.
fn unseen_focus(browser: &Browser) -> Vec<String> {
    let stops = browser.run(FOCUS).as_u64().unwrap();
    browser.press(&vec![TAB; usize::try_from(stops).unwrap() + WITHIN_FIELDS]);
    let found = browser.run("return [window.missed(), window.unseen]");
    browser.run("document.activeElement?.blur()");
    let all = |at: usize, problem: &str| -> Vec<String> {
        let nodes = found[at].as_array().unwrap();
        nodes.iter().map(|it| format!("{problem}: {it}")).collect()
    };
    let missed = all(0, "is not reached by the Tab key");
    missed.into_iter().chain(all(1, "has the focus and does not show it")).collect()
}
