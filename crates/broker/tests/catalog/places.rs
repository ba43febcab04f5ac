//! Platform regions, and the provider account of an order.

use broker::catalog::{Account, Catalog};
use domain::plan::Provider;

use crate::support::Shop;

#[test]
fn the_first_digit_of_the_region_names_the_platforms_provider() {
    let catalog = Catalog::embedded().unwrap();
    let cases = [
        (Some("cf-eu10"), "cf-eu10", "AWS", false),
        (Some("cf-eu20"), "cf-eu20", "Azure", false),
        (Some("cf-us21"), "cf-us21", "Azure", false),
        (Some("cf-eu30"), "cf-eu30", "unknown", false),
        (Some("cf-eu11"), "cf-eu11", "AWS", true),
        (Some("cf-ch20"), "cf-ch20", "Azure", true),
        (Some("somewhere"), "somewhere", "unknown", false),
        // The default region gives its name, but not its provider.
        (None, "cf-eu10", "unknown", false),
        (Some(""), "cf-eu10", "unknown", false),
    ];
    for (region, name, provider, eu_access) in cases {
        let place = catalog.place(region);

        assert_eq!(place.platform_region, name);
        assert_eq!(place.provider_word(), provider, "{region:?}");
        assert_eq!(place.eu_access, eu_access, "{region:?}");
    }
}

#[test]
fn trials_share_accounts_and_everybody_else_has_one_of_their_own() {
    let shop = Shop::new();
    let account = |plan, provider, region| {
        shop.catalog.account(shop.plan(plan), provider, &shop.place(region))
    };
    let dedicated = |hyperscaler_type, eu_access| {
        Some(Account { hyperscaler_type, shared: false, eu_access: Some(eu_access) })
    };

    assert_eq!(account("aws", Provider::Aws, "cf-eu10"), dedicated("aws", false));
    assert_eq!(account("aws", Provider::Aws, "cf-eu11"), dedicated("aws", true));
    assert_eq!(account("openstack", Provider::Openstack, "cf-eu10"), dedicated("openstack", false));
    assert_eq!(
        account("trial", Provider::Azure, "cf-ch20"),
        Some(Account { hyperscaler_type: "azure", shared: true, eu_access: None })
    );
    assert_eq!(account("own_cluster", Provider::Aws, "cf-eu10"), None);
}
