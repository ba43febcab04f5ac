//! The kubeconfig with which people log in.

use broker::instances::Caller;
use simulators::trouble::Kind;

use super::{BoundRuntime, anybody};
use crate::{orders::own_cluster, service::SYSTEM};

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_gets_a_kubeconfig_that_logs_in_and_holds_no_credentials() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let instance = &runtime.order.instance_id;
    let owner = Caller {
        tenant: Some(runtime.order.context.globalaccount_id.clone()),
        ..Caller::default()
    };

    let kubeconfig = runtime.bindings.kubeconfig(&owner, instance).await.unwrap();

    let shoot = &runtime.order.shoot_name;
    assert!(kubeconfig.contains(shoot.as_str()), "{kubeconfig}");
    let oidc = &runtime.order.resolved.cluster.as_ref().unwrap().oidc;
    assert!(kubeconfig.contains(&format!("--oidc-issuer-url={}", oidc.issuer_url)), "{kubeconfig}");
    assert!(kubeconfig.contains(&format!("--oidc-client-id={}", oidc.client_id)), "{kubeconfig}");
    for secret in ["token:", "client-key-data", "password"] {
        assert!(!kubeconfig.contains(secret), "{kubeconfig}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_have_a_kubeconfig_and_where_there_is_none_is_said_in_the_known_words() {
    let runtime = Box::pin(BoundRuntime::start()).await;
    let instance = &runtime.order.instance_id;
    let fetch = async |caller: &Caller, instance: &str| {
        runtime.bindings.kubeconfig(caller, instance).await.unwrap_err().to_string()
    };
    let stranger = Caller { tenant: Some("ga-other".into()), ..Caller::default() };

    assert_eq!(fetch(&anybody(), "nope").await, "instance with ID nope does not exist");
    assert_eq!(
        fetch(&stranger, instance).await,
        format!("instance with ID {instance} does not exist")
    );
    runtime.outside.trouble(SYSTEM, 1_000, Kind::Down { refuse: false });
    let down = fetch(&anybody(), instance).await;
    assert!(down.ends_with("is not available, try again later"), "{down}");
    runtime.outside.calm();
    runtime.outside.running.clusters().create_runtime("theirs").unwrap();
    let theirs = runtime.outside.running.clusters().kubeconfig("theirs").unwrap();
    let wish = own_cluster("own", "theirs", &theirs);
    let own = runtime.broker.provision(&runtime.outside, &wish).await.succeeded().order.instance_id;
    assert_eq!(
        fetch(&anybody(), &own).await,
        format!("kubeconfig for instance {own} does not exist")
    );
    runtime.broker.deprovision(&runtime.order).await.completed();
    assert_eq!(
        fetch(&anybody(), instance).await,
        format!("instance with ID {instance} does not exist")
    );
}
