//! Secrets appear in no error and no debugging output (C8), whatever happens to the calls that carry them.

use base::failure::chain;
use clients::btp::ManagerCredentials;
use simulators::trouble::Rule;

use crate::{
    faults::{Fault, Speaks},
    world::{World, marks},
};

const HUSH: &str = "hush-hush-hush";

#[tokio::test]
async fn kubeconfigs_and_credentials_are_in_no_error() {
    let world = World::new().await;
    let (modules, btp) = (world.modules().await, world.btp().await);
    let credentials = ManagerCredentials {
        client_id: HUSH.to_owned().into(),
        client_secret: HUSH.to_owned().into(),
        service_manager_url: "https://sm.example".into(),
        token_url: "https://uaa.example".into(),
        cluster_id: "1".into(),
    };
    let mut failures = 0;

    for fault in Fault::ALL {
        let rule = |system: &str, method: &str| {
            Rule::next(1, fault.trouble(Speaks::Html)).of(system).on(method, "/clusters")
        };
        for method in ["POST", "PUT"] {
            for system in ["control-plane", "runtimes"] {
                world.running.landscape.troubles().add(rule(system, method)).unwrap();
            }
            let secret = HUSH.to_owned().into();
            let first = modules.write_kubeconfig("k", &secret, &marks(&[])).await.err();
            let second = btp.write_manager(&credentials).await.err();
            for error in [first, second].into_iter().flatten() {
                failures += 1;
                let said = format!("{} {error:?}", chain(&error));
                assert!(!said.contains(HUSH), "{said}");
                assert!(!said.contains("aHVzaC1odXNo"), "{said}");
            }
            world.running.landscape.troubles().clear(None).unwrap();
        }
    }
    assert!(failures > 20, "{failures}");
    assert!(!format!("{credentials:?}").contains(HUSH));
}
