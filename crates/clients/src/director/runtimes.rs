//! Runtimes: registered once, changed as a whole, gone when they are gone.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    Change, Director, INSTANCE_LABEL, OneTimeToken, Registration, Runtime, codes::TENANT_NOT_FOUND,
};
use crate::{
    error::{Error, Kind},
    graphql::Operation,
};

const REGISTER: Operation = Operation {
    name: "registerRuntime",
    text: "mutation ($in: RuntimeRegisterInput!) { result: registerRuntime(in: $in) { id } }",
};
const READ: Operation = Operation {
    name: "runtime",
    text: "query ($id: ID!) { result: runtime(id: $id) { id name description labels } }",
};
const UPDATE: Operation = Operation {
    name: "updateRuntime",
    text: "mutation ($id: ID!, $in: RuntimeUpdateInput!) { result: updateRuntime(id: $id, in: $in) { id } }",
};
const UNREGISTER: Operation = Operation {
    name: "unregisterRuntime",
    text: "mutation ($id: ID!) { result: unregisterRuntime(id: $id) { id } }",
};
const TOKEN: Operation = Operation {
    name: "requestOneTimeTokenForRuntime",
    text: "mutation ($id: ID!) { result: requestOneTimeTokenForRuntime(id: $id) { token connectorURL } }",
};
const LABEL: Operation = Operation {
    name: "setRuntimeLabel",
    text: "mutation ($id: ID!, $key: String!, $value: Any!) { result: setRuntimeLabel(runtimeID: $id, key: $key, value: $value) { key value } }",
};
const FIND: Operation = Operation {
    name: "runtimes",
    text: "query ($filter: [LabelFilter!]) { result: runtimes(filter: $filter) { data { id } } }",
};

#[derive(Deserialize)]
struct Id {
    id: String,
}

#[derive(Deserialize)]
struct Page {
    data: Vec<Id>,
}

impl Director {
    /// Registers a runtime and gives its id. With an instance's label in it, a registration whose
    /// answer was lost is found again instead of being made twice.
    pub async fn register(&self, tenant: &str, runtime: &Registration) -> Result<String, Error> {
        let instance = runtime.labels.get(INSTANCE_LABEL).and_then(Value::as_str);
        if let Some(instance) = instance
            && let Some(id) = self.find_by_instance(tenant, instance).await?
        {
            return Ok(id);
        }
        let doing = format!("registering runtime {}", runtime.name);
        let made = self.demand::<Id>(tenant, &doing, REGISTER, json!({"in": runtime})).await;
        match (made, instance) {
            (Ok(made), _) => Ok(made.id),
            // It was registered between our look and our call, by another run of ours.
            (Err(error), Some(instance)) if error.kind == Kind::AlreadyExists => {
                self.find_by_instance(tenant, instance).await?.ok_or(error)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// The runtime, if it is registered.
    pub async fn runtime(&self, tenant: &str, id: &str) -> Result<Option<Runtime>, Error> {
        let doing = format!("reading runtime {id}");
        match self.ask::<Runtime>(tenant, &doing, READ, json!({"id": id})).await {
            Err(error) if is_gone(&error) => Ok(None),
            Ok(Some(runtime)) if runtime.id != id => Err(self.mixed_up(&doing)),
            read => read,
        }
    }

    /// Changes a runtime and leaves alone what the change does not name.
    pub async fn update(&self, tenant: &str, id: &str, change: &Change) -> Result<(), Error> {
        let doing = format!("updating runtime {id}");
        let Some(mut runtime) = self.runtime(tenant, id).await? else {
            return Err(Error::new(self.graphql.component(), Kind::NotFound, &doing));
        };
        runtime.labels.extend(change.labels.clone());
        let input = Registration {
            name: runtime.name,
            description: runtime.description,
            labels: runtime.labels,
            condition: change.condition,
        };
        let variables = json!({"id": id, "in": input});
        let updated = self.demand::<Id>(tenant, &doing, UPDATE, variables).await?;
        if updated.id == id { Ok(()) } else { Err(self.mixed_up(&doing)) }
    }

    /// Removes a runtime; one that is not there is removed.
    pub async fn unregister(&self, tenant: &str, id: &str) -> Result<(), Error> {
        let doing = format!("unregistering runtime {id}");
        match self.ask::<Id>(tenant, &doing, UNREGISTER, json!({"id": id})).await {
            Err(error) if is_gone(&error) => Ok(()),
            Ok(Some(removed)) if removed.id != id => Err(self.mixed_up(&doing)),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A fresh token for the runtime's agent. Asking again makes another one; old ones run out.
    pub async fn one_time_token(&self, tenant: &str, id: &str) -> Result<OneTimeToken, Error> {
        let doing = format!("getting a one-time token for runtime {id}");
        self.demand(tenant, &doing, TOKEN, json!({"id": id})).await
    }

    /// Sets one label and leaves the others alone.
    pub async fn set_label(
        &self,
        tenant: &str,
        id: &str,
        key: &str,
        value: &Value,
    ) -> Result<(), Error> {
        let doing = format!("labelling runtime {id}");
        let variables = json!({"id": id, "key": key, "value": value});
        self.demand::<Value>(tenant, &doing, LABEL, variables).await.map(|_| ())
    }

    /// The one runtime of an instance, if there is one.
    pub async fn find_by_instance(
        &self,
        tenant: &str,
        instance: &str,
    ) -> Result<Option<String>, Error> {
        self.find_by_label(tenant, INSTANCE_LABEL, instance).await
    }

    /// The one runtime whose label has this value, if there is one.
    pub async fn find_by_label(
        &self,
        tenant: &str,
        label: &str,
        value: &str,
    ) -> Result<Option<String>, Error> {
        let doing = format!("looking for the runtime with {label} {value}");
        // The filter compares JSON, so a text stands in quotes.
        let query = Value::from(value).to_string();
        let variables = json!({"filter": [{"key": label, "query": query}]});
        let found = match self.demand::<Page>(tenant, &doing, FIND, variables).await {
            Err(error) if error.kind == Kind::NotFound => return Ok(None),
            found => found?.data,
        };
        if found.len() > 1 {
            let several = format!("{} runtimes have the label", found.len());
            let kind = Kind::Conflict;
            return Err(Error::new(self.graphql.component(), kind, &doing).saying(several));
        }
        Ok(found.into_iter().next().map(|found| found.id))
    }

    /// Registers a runtime that carries a label with a value of its own, by which it is found again
    /// when the answer was lost. `again` looks before it registers. [`Kind::AnswerLost`]: it may be registered, and whether it is
    /// could not be found out.
    pub async fn register_once(
        &self,
        tenant: &str,
        runtime: &Registration,
        (label, value): (&str, &str),
        again: bool,
    ) -> Result<String, Error> {
        let doing = format!("registering runtime {}", runtime.name);
        let found = async || {
            let found = self.find_by_label(tenant, label, value).await;
            found.map_err(|error| perhaps_done(error, &doing))
        };
        if again && let Some(id) = found().await? {
            return Ok(id);
        }
        let mut marked = runtime.clone();
        marked.labels.insert(label.into(), value.into());
        match self.demand::<Id>(tenant, &doing, REGISTER, json!({"in": marked})).await {
            Ok(made) => Ok(made.id),
            // Whatever became of the call, what it made is found. What exists already may be ours: an earlier call that was slow.
            Err(error)
                if matches!(
                    error.kind,
                    Kind::AnswerLost | Kind::Malformed | Kind::AlreadyExists
                ) =>
            {
                found().await?.ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        tenant: &str,
        doing: &str,
        operation: Operation,
        variables: Value,
    ) -> Result<Option<T>, Error> {
        self.graphql.ask(doing, operation, &[("tenant", tenant)], variables).await
    }

    /// Asks where null is no answer.
    async fn demand<T: DeserializeOwned>(
        &self,
        tenant: &str,
        doing: &str,
        operation: Operation,
        variables: Value,
    ) -> Result<T, Error> {
        let nothing = || {
            Error::new(self.graphql.component(), Kind::Malformed, doing).saying("field data.result")
        };
        self.ask(tenant, doing, operation, variables).await?.ok_or_else(nothing)
    }

    fn mixed_up(&self, doing: &str) -> Error {
        Error::new(self.graphql.component(), Kind::Malformed, doing)
            .saying("it answered for another runtime")
    }
}

/// The look-up of what a call may have made failed: nobody knows whether it did.
fn perhaps_done(error: Error, doing: &str) -> Error {
    let said = Some(error.to_string());
    Error { kind: Kind::AnswerLost, doing: doing.into(), said, ..error }
}

fn is_gone(error: &Error) -> bool {
    error.kind == Kind::NotFound || error.reason.as_deref() == Some(TENANT_NOT_FOUND)
}
