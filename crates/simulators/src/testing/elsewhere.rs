//! The API server that `KUBECONFIG` names, for tests of controllers that work on any.
//!
//! What a reader would get wrong: a developer's `KUBECONFIG` often names a cluster that matters. Nothing is done to one that
//! was not given the landscape's definitions (`kcp landscape crds | kubectl apply -f -`): that is the consent.

use std::{env, time::Duration};

use kube::{
    Api, Client, Config,
    api::{ApiResource, DynamicObject},
    config::KubeConfigOptions,
    core::GroupVersionKind,
};

const GREETING: Duration = Duration::from_secs(10);

/// A client of that API server; nothing if there is none, or if it was not given the definition of this name.
pub async fn elsewhere(definition: &str) -> Option<Client> {
    env::var_os("KUBECONFIG").filter(|path| !path.is_empty())?;
    match consenting(definition).await {
        Ok(client) => Some(client),
        Err(why) => {
            eprintln!("KUBECONFIG is left alone, and an API server of our own is used: {why}");
            None
        }
    }
}

async fn consenting(definition: &str) -> Result<Client, String> {
    let mut config = Config::from_kubeconfig(&KubeConfigOptions::default())
        .await
        .map_err(|error| error.to_string())?;
    config.connect_timeout = Some(GREETING);
    let client = Client::try_from(config).map_err(|error| error.to_string())?;
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let kind = ApiResource::from_gvk_with_plural(&kind, "customresourcedefinitions");
    let found = Api::<DynamicObject>::all_with(client.clone(), &kind)
        .get_opt(definition)
        .await
        .map_err(|error| error.to_string())?;
    let labels = found.and_then(|found| found.metadata.labels).unwrap_or_default();
    if labels.get("app.kubernetes.io/part-of").is_some_and(|part| part == "landscape") {
        return Ok(client);
    }
    Err(format!("it was not given {definition} by `kcp landscape crds`"))
}
