//! Updates of instances, from acceptance to an updated runtime.

mod generated;
mod life;
mod queued;
mod retried;
mod suspended;
mod table;
pub(crate) mod trying;

use broker::{ContextChange, Order, operations::update::Input, order::OperatorCredentials};
use domain::parameters::{Oidc, Update};

use crate::outside::Outside;

/// A change of nearly everything.
pub(crate) fn change_of_everything(order: Order) -> Input {
    let oidc = Oidc {
        client_id: "new-client".into(),
        issuer_url: "https://new.example.test".into(),
        ..Oidc::default()
    };
    Input {
        order,
        parameters: Update {
            auto_scaler_min: Some(4),
            auto_scaler_max: Some(9),
            machine_type: Some("m6i.2xlarge".into()),
            administrators: Some(vec!["ada@example.test".into(), "bo@example.test".into()]),
            oidc: Some(oidc),
            ..Update::default()
        },
        context: ContextChange {
            license_type: Some("PARTNER".into()),
            sm_operator_credentials: Some(OperatorCredentials {
                clientid: "other".into(),
                clientsecret: "hush-other".to_owned().into(),
                sm_url: "https://sm.example.test".into(),
                url: "https://other.example.test".into(),
                xsappname: String::new(),
            }),
            ..ContextChange::default()
        },
        plan_id: None,
    }
}

/// A change to the plan azure.
fn to_azure(outside: &Outside, order: Order) -> Input {
    Input {
        order,
        parameters: Update::default(),
        context: ContextChange::default(),
        plan_id: Some(outside.catalog.plan_named("azure").unwrap().id().to_owned()),
    }
}
