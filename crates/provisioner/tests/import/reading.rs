//! What is read from the tables of the original: configurations, providers, history.

use engine::{State, Storage};
use provisioner::{
    configuration::Provider, document::Document, operations::Input, status::OperationType,
};
use store::import::Mode;

use crate::{
    World,
    original::{Situation, database, id, provider_config},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_read_from_all_of_its_tables() {
    let from = database().await;
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;

        let row = world.store.find(id(0, 1)).await.unwrap().unwrap();
        let document = Document::read(&row.document).unwrap();
        let configuration = document.configuration;
        assert_eq!(configuration.administrators, ["jo@example.test", "plain@example.test"]);
        let cluster = configuration.cluster;
        assert_eq!((cluster.volume_size_gb, cluster.auto_scaler_max), (Some(80), 4));
        let oidc = cluster.oidc.unwrap();
        assert_eq!((oidc.client_id.as_str(), oidc.signing_algs.len()), ("client", 2));
        let dns = cluster.dns.unwrap();
        assert_eq!(dns.providers[0].domains_include, ["a.test", "b.test"]);
        let kyma = configuration.kyma.unwrap();
        assert_eq!((kyma.version.as_str(), kyma.components.len()), ("2.10.0", 2));
        assert!(kyma.components[0].configuration[0].secret);
        assert_eq!(document.upgrade.unwrap().before.version, "2.9.3");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_of_a_provider_is_understood() {
    let from = database().await;
    for world in World::both().await {
        world.import(&from, Mode::Apply).await;

        for (number, (provider, _)) in provider_config().into_iter().enumerate() {
            let row = world.store.find(id(number, 1)).await.unwrap();
            let Some(row) = row else { continue };
            let cluster = Document::read(&row.document).unwrap().configuration.cluster;
            let found = match cluster.provider_config {
                Provider::Aws(aws) => ("aws", aws.zones.len()),
                Provider::Azure(_) => ("azure", 1),
                Provider::Gcp(gcp) => ("gcp", gcp.zones.len()),
                Provider::OpenStack(openstack) => ("openstack", openstack.zones.len()),
            };
            assert_eq!((found.0, found.1 > 0), (provider, true), "{number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_are_history_in_the_words_of_the_api() {
    let from = database().await;
    for world in World::both().await {
        world.import_as(&from, Mode::Apply, true).await.unwrap();

        for (number, situation) in Situation::ALL.into_iter().enumerate() {
            let read = world.store.engine().read(id(number, 2)).await.unwrap().unwrap();
            let input: Input = serde_json::from_slice(&read.input).unwrap();
            assert_eq!(input.known_as, OperationType::ProvisionNoInstall);
            let expected = match situation {
                Situation::NotMade | Situation::BeingMade => State::Failed,
                _ => State::Succeeded,
            };
            assert_eq!(read.state, expected, "{situation:?}");
            let journal = world.store.engine().journal(read.id).await.unwrap();
            let reason = journal[0].reason.clone().unwrap();
            assert!(reason.starts_with("imported from the original provisioner"), "{reason}");
        }
    }
}
