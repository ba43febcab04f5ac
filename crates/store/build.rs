//! Rebuilds the crate when a migration is added: `sqlx::migrate!` cannot watch a folder by itself.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
