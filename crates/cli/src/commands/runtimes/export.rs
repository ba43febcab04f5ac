//! `kcp runtimes --export`: all runtimes, as a stream.
//!
//! What a reader would get wrong: a file is there when it is whole. Until then it has another name beside it, and an export that is
//! broken off leaves nothing.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, BufWriter, IsTerminal as _, Write},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::ValueEnum;
use uuid::Uuid;

use crate::{client::Client, output};

/// How the runtimes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportFormat {
    /// One JSON object on each line.
    Ndjson,
    /// One row for each, below a header.
    Csv,
}

/// Exports what the query chooses to a file, or to standard output as `-`.
pub(super) async fn write(
    client: &Client,
    mut query: Vec<(&'static str, String)>,
    format: ExportFormat,
    file: &Path,
) -> anyhow::Result<()> {
    let format = match format {
        ExportFormat::Ndjson => "ndjson",
        ExportFormat::Csv => "csv",
    };
    query.push(("format", format.into()));
    if file == Path::new("-") {
        let mut out = Screen::new();
        copy(client, &query, &mut out).await?;
        return out.finish();
    }
    let partial = Partial::beside(file);
    let doing = || format!("writing {}", partial.0.display());
    let mut out = BufWriter::new(File::create(&partial.0).with_context(doing)?);
    copy(client, &query, &mut out).await?;
    out.flush().with_context(doing)?;
    out.get_ref().sync_all().with_context(doing)?;
    fs::rename(&partial.0, file).with_context(|| format!("writing {}", file.display()))
}

async fn copy(
    client: &Client,
    query: &[(&str, String)],
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut pieces = client.export(query).await?;
    while let Some(piece) = pieces.next().await? {
        out.write_all(&piece)?;
    }
    Ok(())
}

/// A file that is not whole yet; gone when this value is.
struct Partial(PathBuf);

impl Partial {
    /// A name of its own, so that two exports to one file do not write into each other.
    fn beside(file: &Path) -> Self {
        let mut name = file.file_name().map(OsString::from).unwrap_or_default();
        name.push(format!(".{}.partial", Uuid::new_v4().simple()));
        Self(file.with_file_name(name))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Standard output. What others have put into names never controls a terminal.
struct Screen {
    terminal: bool,
    /// The beginning of a line whose end is still on its way.
    rest: Vec<u8>,
}

impl Screen {
    fn new() -> Self {
        Self { terminal: io::stdout().is_terminal(), rest: Vec::new() }
    }

    fn finish(mut self) -> anyhow::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        output::print(&String::from_utf8_lossy(&rest))
    }
}

impl Write for Screen {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if !self.terminal {
            io::stdout().lock().write_all(piece)?;
            return Ok(piece.len());
        }
        self.rest.extend_from_slice(piece);
        if let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') {
            let lines: Vec<u8> = self.rest.drain(..=end).collect();
            let shown = output::harmless(&String::from_utf8_lossy(&lines), "\r\n\t");
            io::stdout().lock().write_all(shown.as_bytes())?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}
