//! Lists the files in `migrations`, so that adding a migration is adding a file.
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
            writeln!(list, "static {name}: Files = &[")?;
            for (version, description, path) in files(&folder)? {
                writeln!(list, "    ({version}, {description:?}, include_str!({path:?})),")?;
            }
            writeln!(list, "];")?;
        }
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("migrations.rs"), list)?;
    Ok(())
}

/// Version, description and path: `0002_lms_tenants.sql` is 2, "lms tenants".
type File = (i64, String, String);

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
        if fs::read_to_string(&path)?.starts_with("-- no-transaction") || description.contains('.')
        {
            return Err(format!(
                "{}: every migration runs in a transaction, forward",
                path.display()
            )
            .into());
        }
        let description = description.replace('_', " ");
        files.push((version, description, path.to_str().ok_or_else(invalid)?.to_owned()));
    }
    files.sort();
    Ok(files)
}
