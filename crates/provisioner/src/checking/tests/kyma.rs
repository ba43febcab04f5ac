//! The installation.

use crate::{
    checking::{Defaults, kyma},
    configuration::{Component, Entry},
    error::Code,
    requests::Kyma,
};

const UPGRADE: &str = "Runtime upgrade";

fn module(name: &str) -> Component {
    Component {
        component: name.into(),
        namespace: format!("{name}-system"),
        configuration: vec![],
        source_url: None,
        conflict_strategy: None,
    }
}

fn asking_for(modules: &[&str]) -> Kyma {
    let components = modules.iter().map(|name| module(name)).collect();
    Kyma { version: "2.4.0".into(), components, ..Kyma::default() }
}

fn installed(request: Kyma, defaults: &Defaults) -> Vec<String> {
    let kyma = kyma(request, defaults, UPGRADE).unwrap();
    kyma.components.into_iter().map(|component| component.component).collect()
}

fn nameless() -> Entry {
    Entry { key: String::new(), value: "secret".into(), secret: true }
}

#[test]
fn no_list_means_kyma_lite() {
    let components = installed(asking_for(&[]), &Defaults::default());

    assert_eq!(components, ["cluster-essentials", "istio", "compass-runtime-agent"]);
}

#[test]
fn a_list_is_added_to_kyma_lite() {
    let components = installed(asking_for(&["serverless", "nats"]), &Defaults::default());

    let lite = ["cluster-essentials", "istio", "compass-runtime-agent"];
    assert_eq!(components, [&lite[..], &["serverless", "nats"]].concat());
}

#[test]
fn a_list_with_the_agent_is_complete() {
    let listed = ["nats", "compass-runtime-agent", "istio"];

    let components = installed(asking_for(&listed), &Defaults::default());

    assert_eq!(components, listed);
}

#[test]
fn a_module_of_kyma_lite_is_installed_as_the_caller_says() {
    let kyma = kyma(asking_for(&["istio"]), &Defaults::default(), UPGRADE).unwrap();

    assert_eq!(kyma.components.len(), 3);
    assert_eq!(kyma.components[1], module("istio"));
}

#[test]
fn the_agent_is_always_there() {
    let defaults = Defaults { kyma_lite: vec![], ..Defaults::default() };

    let alone = installed(asking_for(&[]), &defaults);
    let last = installed(asking_for(&["nats"]), &defaults);

    assert_eq!(alone, ["compass-runtime-agent"]);
    assert_eq!(last, ["nats", "compass-runtime-agent"]);
}

#[test]
fn each_broken_rule_names_its_field_and_what_was_being_started() {
    type Case = (fn(&mut Kyma), &'static str);
    let cases: &[Case] = &[
        (|k| k.version.clear(), "kymaConfig.version must not be empty"),
        (
            |k| k.components[1].component.clear(),
            "kymaConfig.components[1].component must not be empty",
        ),
        (
            |k| k.components[1].namespace.clear(),
            "kymaConfig.components[1].namespace must not be empty",
        ),
        (
            |k| k.components[1].component = "nats".into(),
            "kymaConfig.components[1].component \"nats\" is there twice",
        ),
        (|k| k.configuration.push(nameless()), "kymaConfig.configuration[0].key must not be empty"),
        (
            |k| k.components[0].configuration.push(nameless()),
            "kymaConfig.components[0].configuration[0].key must not be empty",
        ),
    ];

    for (change, rule) in cases {
        let mut request = asking_for(&["nats", "serverless"]);
        change(&mut request);
        let new = kyma(request.clone(), &Defaults::default(), "Runtime provisioning").unwrap_err();
        let upgrade = kyma(request, &Defaults::default(), UPGRADE).unwrap_err();

        let started = "validation error while starting";
        let text = format!("Kyma config {started} Runtime provisioning, error: {rule}");
        assert_eq!((new.message, new.code), (text, Code::BadRequest));
        let text = format!("{started} Runtime upgrade, error: {rule}");
        assert_eq!((upgrade.message, upgrade.code), (text, Code::BadRequest));
    }
}
