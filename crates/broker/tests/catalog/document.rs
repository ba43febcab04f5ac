//! The page about the plans is printed from the data.

use std::fs;

use broker::catalog::Catalog;

#[test]
fn the_page_about_plans_is_what_the_catalog_prints() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/plans.md");
    let printed = Catalog::embedded().unwrap().printed();

    if std::env::var_os("KCP_UPDATE_SAMPLES").is_some() {
        fs::write(path, &printed).unwrap();
    }

    assert!(
        fs::read_to_string(path).unwrap_or_default() == printed,
        "docs/plans.md differs: run this test with KCP_UPDATE_SAMPLES=1 to write it"
    );
}
