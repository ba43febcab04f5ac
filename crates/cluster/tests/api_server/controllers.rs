//! A controller written with `kube`, working against the server as it would against any other.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use kube::{
    Api, ResourceExt,
    api::{DynamicObject, Patch, PatchParams, PostParams},
    runtime::{
        Controller,
        controller::Action,
        finalizer::{Event, finalizer},
        wait::await_condition,
        watcher,
    },
};
use serde_json::json;

use crate::support::{start, thing, thing_resource};

async fn reconcile(
    object: Arc<DynamicObject>,
    things: Arc<Api<DynamicObject>>,
) -> Result<Action, kube::runtime::finalizer::Error<kube::Error>> {
    finalizer(&things, "example.org/controller", object, async |event| {
        if let Event::Apply(object) = event {
            let body = Patch::Merge(json!({"status": {"state": "ready"}}));
            things.patch_status(&object.name_any(), &PatchParams::default(), &body).await?;
        }
        Ok(Action::await_change())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_brings_objects_to_ready_and_lets_them_go() {
    let running = start().await;
    let things = running.things().await;
    let watched =
        Controller::new_with(things.clone(), watcher::Config::default(), thing_resource());
    let working = tokio::spawn(
        watched
            .run(
                reconcile,
                |_, _, _| Action::requeue(Duration::from_millis(50)),
                Arc::new(things.clone()),
            )
            .for_each(async |_| {}),
    );

    for n in 0..20 {
        let new = thing(&format!("t-{n}"), json!({}));
        things.create(&PostParams::default(), &new).await.unwrap();
    }
    for n in 0..20 {
        let ready = |object: Option<&DynamicObject>| {
            object.is_some_and(|object| object.data["status"]["state"] == "ready")
        };
        await_condition(things.clone(), &format!("t-{n}"), ready).await.unwrap();
    }
    for n in 0..20 {
        let (name, gone) = (format!("t-{n}"), |object: Option<&DynamicObject>| object.is_none());
        things.delete(&name, &kube::api::DeleteParams::default()).await.unwrap();
        await_condition(things.clone(), &name, gone).await.unwrap();
    }

    working.abort();
}
