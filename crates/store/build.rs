//! Lists the files in `migrations`, so that adding a migration is adding a file. A file for PostgreSQL that builds an index concurrently
//! is listed apart: it runs in no transaction.
//!
//! What a reader would get wrong: `sqlx::migrate!` would do the same, but with it comes a second build of both database drivers
//! and of TLS for the compiler's own machine.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

const SETS: [&str; 3] = ["engine", "broker", "provisioner"];
const DATABASES: [&str; 2] = ["postgres", "sqlite"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=migrations");
    let migrations = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("migrations");
    let mut list = String::new();
    for set in SETS {
        for database in DATABASES {
            let folder = migrations.join(set).join(database);
            println!("cargo:rerun-if-changed={}", folder.display());
            let name = format!("{set}_{database}").to_uppercase();
            let (concurrent, files): (Vec<_>, Vec<_>) =
                files(&folder)?.into_iter().partition(|file| file.text.contains(CONCURRENTLY));
            writeln!(list, "static {name}: Files = &[")?;
            for File { version, description, path, .. } in files {
                writeln!(list, "    ({version}, {description:?}, include_str!({path:?})),")?;
            }
            writeln!(list, "];")?;
            if database == "sqlite" && concurrent.is_empty() {
                continue;
            }
            writeln!(list, "static {name}_INDEXES: Indexes = &[")?;
            for File { path, text, .. } in concurrent {
                let (index, table) = index(&text).ok_or_else(|| {
                    format!("{path}: has to be one statement, {CONCURRENTLY} IF NOT EXISTS NAME ON TABLE")
                })?;
                writeln!(list, "    ({index:?}, {table:?}, include_str!({path:?})),")?;
            }
            writeln!(list, "];")?;
        }
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("migrations.rs"), list)?;
    Ok(())
}

/// A migration: `0002_lms_tenants.sql` has version 2 and the description "lms tenants".
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct File {
    version: i64,
    description: String,
    path: String,
    text: String,
}

const CONCURRENTLY: &str = "CREATE INDEX CONCURRENTLY";

/// The names of the index and the table in the only statement.
fn index(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once(CONCURRENTLY)?;
    let mut words = rest.strip_prefix(" IF NOT EXISTS ")?.split_whitespace();
    let (name, on, table) = (words.next()?, words.next()?, words.next()?);
    (on == "ON" && text.matches(';').count() == 1 && text.trim_end().ends_with(';'))
        .then_some((name, table))
}

/// The files of a folder, by version.
fn files(folder: &Path) -> Result<Vec<File>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let invalid = || format!("{}: not named NUMBER_DESCRIPTION.sql", path.display());
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(invalid)?;
        let stem = name.strip_suffix(".sql").ok_or_else(invalid)?;
        let (version, description) = stem.split_once('_').ok_or_else(invalid)?;
        let version = version.parse().map_err(|_| invalid())?;
        // sqlx gives these a meaning that is not kept here.
        let text = fs::read_to_string(&path)?;
        if text.starts_with("-- no-transaction") || description.contains('.') {
            return Err(format!(
                "{}: every migration runs in a transaction, forward",
                path.display()
            )
            .into());
        }
        let description = description.replace('_', " ");
        let path = path.to_str().ok_or_else(invalid)?.to_owned();
        files.push(File { version, description, path, text });
    }
    files.sort();
    Ok(files)
}
