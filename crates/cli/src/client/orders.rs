//! Orders, removals and what runs: the part of the broker's API that platforms and operators share.

use anyhow::{Context, bail};
use clients::{
    Kind,
    http::{Pieces, segment},
};
use domain::OperationId;
use reqwest::{Method, RequestBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use url::form_urlencoded;

use super::{Client, from_route, lacks_route};
use crate::view::{Runtime, RuntimePage};

/// The version of the Open Service Broker API that is spoken.
const VERSION: (&str, &str) = ("X-Broker-API-Version", "2.17");
/// How many runtimes are asked for at once: as many as the broker gives.
const PAGE: usize = 100;

/// The catalog.
#[derive(Deserialize)]
pub(crate) struct Catalog {
    services: Vec<Service>,
}

#[derive(Deserialize)]
struct Service {
    id: String,
    #[serde(default)]
    bindable: bool,
    plans: Vec<Plan>,
}

#[derive(Deserialize)]
struct Plan {
    id: String,
    name: String,
    /// The service's value is the default.
    bindable: Option<bool>,
}

/// A plan, and the service that it belongs to.
pub(crate) struct PlanChoice {
    pub(crate) service_id: String,
    pub(crate) plan_id: String,
    /// Whether its instances can be bound.
    pub(crate) bindable: bool,
}

impl Catalog {
    /// The plan of this name; the error tells which there are.
    pub(crate) fn plan(&self, name: &str) -> anyhow::Result<PlanChoice> {
        let all =
            || self.services.iter().flat_map(|it| it.plans.iter().map(move |plan| (it, plan)));
        match all().find(|(_, plan)| plan.name == name) {
            Some((service, plan)) => Ok(PlanChoice {
                service_id: service.id.clone(),
                plan_id: plan.id.clone(),
                bindable: plan.bindable.unwrap_or(service.bindable),
            }),
            None => {
                let names: Vec<&str> = all().map(|(_, plan)| plan.name.as_str()).collect();
                bail!("plan \"{name}\" is not in the catalog, which has: {}", names.join(", "))
            }
        }
    }

    /// Any plan, where the broker asks for one and does not look at it.
    pub(super) fn any(&self) -> anyhow::Result<PlanChoice> {
        let first = self.services.iter().flat_map(|it| &it.plans).next();
        self.plan(&first.context("the catalog is empty")?.name)
    }
}

/// An accepted order.
#[derive(Deserialize)]
pub(crate) struct OrderResponse {
    /// The operation that makes the instance; none when it is complete.
    pub(crate) operation: Option<OperationId>,
    pub(crate) dashboard_url: Option<String>,
}

/// Changes of an instance.
pub(crate) struct InstanceChange {
    /// Another plan, by its name.
    pub(crate) plan: Option<String>,
    pub(crate) context: Option<Value>,
    pub(crate) parameters: Option<Value>,
}

#[derive(Deserialize)]
struct UpdateResponse {
    operation: Option<OperationId>,
}

#[derive(Deserialize)]
struct RemovalResponse {
    operation: OperationId,
}

impl Client {
    /// The catalog of a region of the platform.
    pub(crate) async fn catalog(&self, region: Option<&str>) -> anyhow::Result<Catalog> {
        Ok(serde_json::from_value(self.whole_catalog(region).await?)?)
    }

    /// The same as it is answered.
    pub(crate) async fn whole_catalog(&self, region: Option<&str>) -> anyhow::Result<Value> {
        let request = self.http.get(&format!("{}/v2/catalog", prefix(region)?));
        let answer = self.send_order("reading the catalog", versioned(request)).await;
        self.order_answered(answer.and_then(|answer| answer.json())).await
    }

    /// Orders an instance. The same order again is harmless.
    pub(crate) async fn order(
        &self,
        region: Option<&str>,
        instance: &str,
        order: &Value,
    ) -> anyhow::Result<OrderResponse> {
        let path = order_path(region, instance)?;
        let request = versioned(self.http.put(&path)).query(&[("accepts_incomplete", "true")]);
        let doing = format!("ordering instance {instance}");
        let answer = self.send_order(&doing, request.json(order)).await;
        let lost = matches!(&answer, Err(error) if error.kind == Kind::AnswerLost);
        let answer = self.order_answered(answer.and_then(|answer| answer.json())).await;
        if lost {
            let hint =
                || format!("it may be accepted: the same command with --id {instance} tells");
            return answer.with_context(hint);
        }
        answer
    }

    /// Changes an instance; gives the operation that carries the change, if the runtime changes with it.
    pub(crate) async fn change_instance(
        &self,
        instance: &str,
        change: &InstanceChange,
    ) -> anyhow::Result<Option<OperationId>> {
        let body = self.change_body(change).await?;
        let path = order_path(None, instance)?;
        let request = versioned(self.http.request(Method::PATCH, &path));
        let request = request.query(&[("accepts_incomplete", "true")]).json(&body);
        let answer = self.send_order(&format!("changing instance {instance}"), request).await;
        let answer = self.order_answered(answer.and_then(|answer| answer.json())).await;
        let UpdateResponse { operation } = answer?;
        Ok(operation)
    }

    /// The body of an update.
    pub(crate) async fn change_body(&self, change: &InstanceChange) -> anyhow::Result<Value> {
        let catalog = self.catalog(None).await?;
        let mut body = json!({"service_id": catalog.any()?.service_id});
        if let Some(plan) = &change.plan {
            body["plan_id"] = json!(catalog.plan(plan)?.plan_id);
        }
        if let Some(context) = &change.context {
            body["context"] = context.clone();
        }
        if let Some(parameters) = &change.parameters {
            body["parameters"] = parameters.clone();
        }
        Ok(body)
    }

    /// Has the broker check an order (`PUT`) or a change (`PATCH`) without doing it, and gives what it says; none from a broker that
    /// cannot.
    pub(crate) async fn check(
        &self,
        method: Method,
        region: Option<&str>,
        instance: &str,
        body: &Value,
    ) -> anyhow::Result<Option<Value>> {
        let path = format!("{}/dry_run", order_path(region, instance)?);
        let request = versioned(self.http.request(method, &path)).json(body);
        let request = request.query(&[("accepts_incomplete", "true")]);
        let answer = self.send_order(&format!("checking instance {instance}"), request).await;
        match answer {
            // A path of its own, so that a broker that does not know it does nothing.
            Err(error) if lacks_route(error.kind) => Ok(None),
            answer => Ok(Some(self.order_answered(answer.and_then(|answer| answer.json())).await?)),
        }
    }

    /// The state of an operation, as platforms see it; `order` is the path of the instance.
    pub(crate) async fn last_operation(
        &self,
        order: &str,
        id: &OperationId,
    ) -> anyhow::Result<Value> {
        let request = versioned(self.http.get(&format!("{order}/last_operation")));
        let request = request.query(&[("operation", id.to_string())]);
        let answer = self.send_order(&format!("looking at operation {id}"), request).await;
        self.order_answered(answer.and_then(|answer| answer.json())).await
    }

    /// The schema of a plan's parameters, when an instance is made (`create`) or changed (`update`).
    pub(crate) async fn schema(
        &self,
        region: Option<&str>,
        plan: &str,
        when: &str,
    ) -> anyhow::Result<Value> {
        let mut catalog = self.whole_catalog(region).await?;
        let services = catalog["services"].as_array_mut().into_iter().flatten();
        let mut plans = services.flat_map(|it| it["plans"].as_array_mut().into_iter().flatten());
        let plan = plans.find(|it| it["name"] == plan);
        Ok(plan
            .map(|plan| plan["schemas"]["service_instance"][when]["parameters"].take())
            .unwrap_or_default())
    }

    /// Where an instance is removed, with everything that is sent along.
    pub(crate) async fn removal_path(&self, instance: &str) -> anyhow::Result<String> {
        let PlanChoice { service_id, plan_id, .. } = self.catalog(None).await?.any()?;
        let query = [
            ("service_id", service_id.as_str()),
            ("plan_id", plan_id.as_str()),
            ("accepts_incomplete", "true"),
        ];
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        Ok(format!("{}?{query}", order_path(None, instance)?))
    }

    /// Removes an instance; gives the operation that does.
    pub(crate) async fn remove(&self, instance: &str) -> anyhow::Result<OperationId> {
        let request = versioned(self.http.delete(&self.removal_path(instance).await?));
        let answer = self.send_order(&format!("removing instance {instance}"), request).await;
        if matches!(&answer, Err(error) if error.kind == Kind::NotFound) {
            bail!("there is no instance {instance}");
        }
        let answer = self.order_answered(answer.and_then(|answer| answer.json())).await;
        let RemovalResponse { operation } = answer?;
        Ok(operation)
    }

    /// All runtimes that a query chooses, page by page, at most `most`.
    pub(crate) async fn runtimes(
        &self,
        query: &[(&str, String)],
        most: Option<usize>,
    ) -> anyhow::Result<Vec<Value>> {
        let mut found = Vec::new();
        for page in 1_u32.. {
            let numbers = [("page", page.to_string()), ("page_size", PAGE.to_string())];
            let request = self.http.get("/runtimes").query(query).query(&numbers);
            let answer = self.send("listing runtimes", request).await?;
            let RuntimePage { data, total_count } = serde_json::from_value(answer)?;
            // Some may vanish between two pages, so that the total is never reached.
            let last = data.len() < PAGE;
            found.extend(data);
            let enough = most.is_some_and(|most| found.len() >= most);
            if last || enough || found.len() >= total_count {
                break;
            }
        }
        found.truncate(most.unwrap_or(usize::MAX));
        Ok(found)
    }

    /// All runtimes that a query chooses, as they are written on their way here.
    pub(crate) async fn export(&self, query: &[(&str, String)]) -> anyhow::Result<Pieces> {
        let request = self.http.get("/runtimes/export").query(query);
        self.reached(self.http.stream("exporting runtimes", request).await)
    }

    /// The runtimes of a query that fit, read as one stream; page by page from a broker that has no exports.
    pub(crate) async fn runtimes_fitting(
        &self,
        query: &[(&str, String)],
        fits: impl Fn(&Runtime) -> bool,
    ) -> anyhow::Result<Vec<Runtime>> {
        let Some(mut pieces) = from_route(self.export(query).await)? else {
            let mut all = self.runtimes_seen(query).await?;
            all.retain(fits);
            return Ok(all);
        };
        let (mut found, mut text) = (Vec::new(), Vec::new());
        loop {
            let piece = self.reached(pieces.next().await)?;
            let is_last = piece.is_none();
            text.extend(piece.unwrap_or_default());
            // What stands behind the last line break goes on in the next piece.
            let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let end = if is_last { text.len() } else { end };
            for line in text[..end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let runtime = serde_json::from_slice(line)?;
                if fits(&runtime) {
                    found.push(runtime);
                }
            }
            text.drain(..end);
            if is_last {
                return Ok(found);
            }
        }
    }

    /// The runtimes that a query chooses, as far as tables show them.
    pub(crate) async fn runtimes_seen(
        &self,
        query: &[(&str, String)],
    ) -> anyhow::Result<Vec<Runtime>> {
        Ok(serde_json::from_value(json!(self.runtimes(query, None).await?))?)
    }
}

/// Where an instance is ordered, changed and removed.
pub(crate) fn order_path(region: Option<&str>, instance: &str) -> anyhow::Result<String> {
    Ok(format!("{}{}", prefix(region)?, instance_path(instance)?))
}

pub(super) fn versioned(request: RequestBuilder) -> RequestBuilder {
    request.header(VERSION.0, VERSION.1)
}

/// Where a region of the platform orders.
fn prefix(region: Option<&str>) -> anyhow::Result<String> {
    let Some(region) = region else { return Ok("/oauth".into()) };
    let region = segment(region).with_context(|| format!("\"{region}\" is not a region"))?;
    Ok(format!("/oauth/{region}"))
}

pub(super) fn instance_path(instance: &str) -> anyhow::Result<String> {
    let id = segment(instance).with_context(|| format!("\"{instance}\" is not an instance"))?;
    Ok(format!("/v2/service_instances/{id}"))
}
