//! An open page while the server cannot be reached, while it has no stream, and while rows come above the one that is read.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
};

use crate::{Scene, checks, support::start};

/// Whether the page says that the server cannot be reached.
const LOST: &str =
    "document.querySelector('.line').textContent.startsWith('cannot be reached since ')";
const LIVE: &str = "document.querySelector('.line').textContent === 'live'";

#[test]
fn the_last_good_page_stays_while_the_server_cannot_be_reached() {
    let mut scene = Scene::new("max");
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    let browser = &scene.browser;
    browser.look(1280, false);
    scene.open("/console/operations");
    browser.wait(LIVE);

    // The server answers, and not with the page.
    browser.run(
        "window.sameDocument = true; window.real = window.fetch; window.fetch = () => \
         Promise.resolve(new Response('<main id=\"content\">no page</main>', { status: 503 }))",
    );
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "two", "--watch"]);
    browser.wait(LOST);
    let told = browser.text("main");
    assert!(told.contains("one") && !told.contains("no page"), "{told}");
    checks::page(browser, "unreachable");
    browser.run("window.fetch = window.real");
    browser.wait("document.querySelector('main').textContent.includes('two')");
    browser.wait(LIVE);

    // Nothing answers at all, until it is started again.
    scene.running.stop();
    browser.wait(LOST);
    assert!(browser.text("main").contains("two"));
    scene.running = start(&["up", "--speed", "max"], scene.folder.path(), scene.port);
    browser.wait(LIVE);
    assert_eq!(browser.run("return window.sameDocument"), true, "the page was loaded again");
}

/// Opens the stream of a page, and keeps it.
fn stream(port: u16) -> BufReader<TcpStream> {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = format!("GET /console/events HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(socket);
    let mut status = String::new();
    reader.read_line(&mut status).unwrap();
    assert!(status.contains(" 200 "), "{status}");
    reader
}

#[test]
fn a_page_that_is_refused_a_stream_is_loaded_again_from_time_to_time() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    let streams: Vec<_> = (0..16).map(|_| stream(scene.port)).collect();
    scene.open("/console/operations");
    browser.wait("document.querySelector('.line').textContent === 'not live'");

    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "unheard", "--watch"]);
    browser.wait("document.querySelector('main').textContent.includes('unheard')");

    assert_eq!(browser.text(".line"), "not live");
    // Once there is room, it has a stream again.
    drop(streams);
    browser.wait(LIVE);
}

#[test]
fn a_row_keeps_the_focus_and_the_selection_when_another_comes_above_it() {
    let scene = Scene::new("max");
    let browser = &scene.browser;
    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "one", "--watch"]);
    scene.open("/console/operations");
    browser.wait(LIVE);
    browser.run(
        "window.link = [...document.querySelectorAll('tbody a')].find((it) => it.textContent === 'one'); \
         window.link.focus(); getSelection().selectAllChildren(window.link)",
    );

    scene.kcp(&["provision", "--yes", "--plan", "aws", "--name", "two", "--watch"]);
    browser.wait("document.querySelector('main').textContent.includes('two')");

    assert_eq!(browser.run("return document.activeElement === window.link"), true);
    assert_eq!(browser.run("return getSelection().toString()"), "one");
}
