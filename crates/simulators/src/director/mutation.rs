//! What can be changed at the Director.

#![expect(clippy::unused_async, reason = "the derive asks for async functions")]

use async_graphql::{Context, ID, Object, Result};

use super::{
    access::Visitor,
    error::Refusal,
    rules,
    runtimes::{Condition, Event, Runtime},
    types::{Any, Label, OneTimeTokenForRuntime, RuntimeRegisterInput, RuntimeUpdateInput, View},
};

pub(super) struct Mutation;

#[Object]
impl Mutation {
    /// Registers a runtime.
    async fn register_runtime(
        &self,
        cx: &Context<'_>,
        #[graphql(name = "in")] input: RuntimeRegisterInput,
    ) -> Result<View> {
        let (director, tenant) = Visitor::writing(cx)?;
        let mut labels = input.labels.map(|labels| labels.0).unwrap_or_default();
        let name = input.name;
        rules::check("RuntimeRegisterInput", &name, input.description.as_deref(), Some(&labels))?;
        labels.entry("scenarios").or_insert_with(|| vec!["DEFAULT"].into());
        let now = director.clock.now();
        let runtime = Runtime {
            id: director.new_id(),
            tenant: tenant.into(),
            name,
            description: input.description,
            labels,
            condition: input.status_condition.unwrap_or(Condition::Initial),
            condition_at: now,
            created_at: now,
        };
        let registered = director.runtimes.change(|known| {
            if known.has_name(tenant, &runtime.name, None) {
                return Err(Refusal::NotUnique(runtime.name.clone()));
            }
            Ok((Some(Event::Registered(runtime.clone())), runtime))
        })?;
        Ok(View(registered))
    }

    /// Replaces a runtime's properties; labels that are not given are gone.
    async fn update_runtime(
        &self,
        cx: &Context<'_>,
        id: ID,
        #[graphql(name = "in")] input: RuntimeUpdateInput,
    ) -> Result<View> {
        let (director, tenant) = Visitor::writing(cx)?;
        let labels = input.labels.map(|labels| labels.0).unwrap_or_default();
        let RuntimeUpdateInput { name, description, status_condition, .. } = input;
        rules::check("RuntimeUpdateInput", &name, description.as_deref(), Some(&labels))?;
        let now = director.clock.now();
        let updated = director.runtimes.change(|known| {
            let before = known.of(tenant, &id).ok_or_else(|| Refusal::NotFound(id.to_string()))?;
            if known.has_name(tenant, &name, Some(&id)) {
                return Err(Refusal::NotUnique(name));
            }
            let mut runtime = Runtime { name, description, labels, ..before.clone() };
            if let Some(condition) = status_condition {
                (runtime.condition, runtime.condition_at) = (condition, now);
            }
            Ok((Some(Event::Updated(runtime.clone())), runtime))
        })?;
        Ok(View(updated))
    }

    /// Takes a runtime away.
    async fn unregister_runtime(&self, cx: &Context<'_>, id: ID) -> Result<View> {
        let (director, tenant) = Visitor::writing(cx)?;
        let gone = director.runtimes.change(|known| {
            let runtime = known.of(tenant, &id).ok_or_else(|| Refusal::NotFound(id.to_string()))?;
            Ok::<_, Refusal>((Some(Event::Unregistered { id: id.to_string() }), runtime.clone()))
        })?;
        Ok(View(gone))
    }

    /// Sets one label.
    async fn set_runtime_label(
        &self,
        cx: &Context<'_>,
        #[graphql(name = "runtimeID")] id: ID,
        key: String,
        value: Any,
    ) -> Result<Label> {
        let (director, tenant) = Visitor::writing(cx)?;
        rules::check_key("LabelInput", &key)?;
        director.runtimes.change(|known| {
            known.of(tenant, &id).ok_or_else(|| Refusal::NotFound(id.to_string()))?;
            let (key, value) = (key.clone(), value.0.clone());
            Ok::<_, Refusal>((Some(Event::Labelled { id: id.to_string(), key, value }), ()))
        })?;
        Ok(Label { key, value })
    }

    /// Gives a token with which a runtime connects once.
    async fn request_one_time_token_for_runtime(
        &self,
        cx: &Context<'_>,
        id: ID,
    ) -> Result<OneTimeTokenForRuntime> {
        let (director, tenant) = Visitor::writing(cx)?;
        let token = director.new_id();
        director.runtimes.change(|known| {
            known.of(tenant, &id).ok_or_else(|| Refusal::NotFound(id.to_string()))?;
            let at = Some(director.clock.now());
            let event = Event::TokenGiven { id: id.to_string(), token: token.clone(), at };
            Ok::<_, Refusal>((Some(event), ()))
        })?;
        Ok(OneTimeTokenForRuntime { token, connector_url: director.connector_url() })
    }
}
