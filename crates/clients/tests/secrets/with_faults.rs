//! Secrets appear in no log and no error (C8), whatever happens to the calls that carry them.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use clients::{
    director::Registration,
    runtime::{Content, Runtime},
};
use secrecy::ExposeSecret;
use simulators::{
    testing::{Lines, leaked},
    trouble::Rule,
};

use crate::{
    faults::{Fault, Speaks},
    garden::{Garden, shoot},
    world::{TENANT, World},
};

/// Values of a kubeconfig that must not be seen.
fn of_kubeconfig(kubeconfig: &str) -> Vec<String> {
    let keys = ["token:", "client-key-data:"];
    let lines = kubeconfig.lines().map(str::trim);
    let values = lines.filter_map(|line| keys.iter().find_map(|key| line.strip_prefix(key)));
    let values: Vec<_> = values.map(|value| value.trim().trim_matches('"').to_owned()).collect();
    assert!(!values.is_empty(), "a kubeconfig has a secret");
    values
}

#[tokio::test]
async fn no_fault_brings_a_secret_into_a_log_or_an_error() {
    let lines = Lines::kept();
    let (world, garden) = (World::new().await, Garden::start().await);
    let director = world.director();
    let (gardener, runtime) = (garden.gardener().await, garden.runtime().await);
    gardener.create(&shoot("c-1", "r-1")).await.unwrap();
    let registration = Registration {
        name: "c-1".into(),
        description: None,
        labels: serde_json::Map::new(),
        condition: None,
    };
    let id = director.register(TENANT, &registration).await.unwrap();
    let value = "v4lue-of-a-secret";
    let content =
        Content { data: [("key".into(), value.to_owned().into())].into(), ..Content::default() };
    let mut secrets =
        vec![STANDARD.encode("machine:secret"), value.to_owned(), STANDARD.encode(value)];
    secrets.extend(of_kubeconfig(&garden.server.kubeconfig("garden", "tester").unwrap()));
    let mut texts = Vec::new();

    for fault in Fault::ALL {
        for (troubles, speaks) in
            [(world.troubles(), Speaks::Html), (&*garden.troubles, Speaks::Kubernetes)]
        {
            let until = "9999-01-01T00:00:00Z".parse().unwrap();
            troubles.add(Rule::until(until, fault.trouble(speaks))).unwrap();
        }
        let tokens = world.tokens();
        let errors = [
            tokens.token().await.map(|token| secrets.push(token.expose_secret().into())).err(),
            director
                .one_time_token(TENANT, &id)
                .await
                .map(|once| secrets.push(once.token.expose_secret().into()))
                .err(),
            gardener
                .admin_kubeconfig("c-1", Duration::from_hours(1))
                .await
                .map(|admin| secrets.extend(of_kubeconfig(admin.kubeconfig.expose_secret())))
                .err(),
            runtime.write_secret("kyma-system", "s", &content).await.err(),
            runtime.secret("kyma-system", "s").await.err(),
        ];
        let errors = errors.into_iter().flatten();
        texts.extend(errors.map(|error| format!("{error:?} {}", base::failure::chain(&error))));
        world.troubles().clear(None).unwrap();
        garden.troubles.clear(None).unwrap();
        // What works in between keeps the breakers closed.
        tokens.token().await.unwrap();
        director.runtime(TENANT, &id).await.unwrap();
        gardener.shoot("c-1").await.unwrap();
        Runtime::connection(&runtime).await.unwrap();
    }

    texts.push(format!("{director:?} {gardener:?} {runtime:?}"));
    texts.push(lines.text());
    let log = texts.last().unwrap();
    assert!(log.contains("getting a one-time token"), "the log was kept");
    assert!(texts.len() > 50, "there were {} errors", texts.len());
    assert!(secrets.len() > 10, "there were {} secrets", secrets.len());
    assert_eq!(leaked(&texts, &secrets), None);
}
