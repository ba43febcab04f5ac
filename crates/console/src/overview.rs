//! What runs, and what it is doing. The page loads itself again every two seconds.

use std::fmt::Write;

use axum::{extract::State, response::Html};
use broker::operations::view::{PageRequest, Snapshot};

use crate::{Console, html::Text};

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="2">
<title>kcp</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
th { font-weight: 600; } code { font-size: .9em; }
.succeeded { color: #1a7f37; } .failed { color: #cf222e; } .canceled { color: #9a6700; }
</style>
</head>
<body>
<h1>kcp: a control plane for managed Kubernetes runtimes</h1>
"#;

pub(crate) async fn page(State(console): State<Console>) -> Html<String> {
    let mut html = String::from(HEAD);
    html.push_str("<h2>What runs</h2>\n<table>\n");
    for service in console.services.iter() {
        let address = Text(&service.address);
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td><code>{address}</code></td></tr>",
            Text(service.name)
        );
    }
    html.push_str("</table>\n<h2>Operations</h2>\n");
    match console.operations.list(PageRequest::default()).await {
        Ok(page) if page.operations.is_empty() => html.push_str("<p>None yet.</p>\n"),
        Ok(page) => table(&mut html, &page.operations),
        Err(error) => {
            let _ =
                writeln!(html, "<p class=\"failed\">They cannot be shown: {}.</p>", Text(error));
        }
    }
    html.push_str("</body>\n</html>\n");
    Html(html)
}

fn table(html: &mut String, operations: &[Snapshot]) {
    html.push_str("<table>\n<tr><th>Operation</th><th>Kind</th><th>State</th><th>Stage</th><th>Step</th><th>Runs</th><th>Why</th><th>Accepted</th></tr>\n");
    for operation in operations {
        let text = |text: &Option<String>| Text(text.clone().unwrap_or_default()).to_string();
        let why =
            operation.note.clone().or_else(|| operation.failure.as_ref().map(ToString::to_string));
        let _ = writeln!(
            html,
            "<tr><td><code>{id}</code></td><td>{kind}</td><td class=\"{state}\">{state}</td><td>{stage}</td>\
             <td>{step}</td><td>{runs}</td><td>{why}</td><td>{at}</td></tr>",
            id = Text(&operation.id),
            kind = Text(&operation.kind),
            state = operation.state,
            stage = text(&operation.stage),
            step = text(&operation.step),
            runs = operation.runs,
            why = text(&why),
            at = operation.created_at.strftime("%Y-%m-%d %H:%M:%S"),
        );
    }
    html.push_str("</table>\n");
}
