//! Orders, as the original stores them.

use domain::{
    parameters::{Provisioning, ResolvedOrder, Sensitive},
    plan::{Kind, Provider},
};
use serde_json::{Map, Value};
use store::import::{Cipher, Finding, KebOperation};
use uuid::Uuid;

use super::{cluster, details::words, subject};
use crate::{
    Context, Order,
    catalog::{Catalog, Orderer, Plan, PlatformRegion},
    instances::pairs::PROVISION,
};

/// The sources of an order.
pub(super) struct OrderSource<'a> {
    pub(super) instance: &'a str,
    pub(super) plan_id: &'a str,
    /// The original's parameters.
    pub(super) parameters: &'a Value,
    /// The global account that it belongs to now; empty where only the parameters say it.
    pub(super) account: &'a str,
    /// The global account whose provider account pays, where it has moved.
    pub(super) subscription_account: &'a str,
    /// The provider by its label; may be empty.
    pub(super) provider: &'a str,
    pub(super) dashboard_url: &'a str,
    /// The data of the newest operation.
    pub(super) data: &'a Value,
    /// The cluster configuration that was sent.
    pub(super) sent: Option<&'a Map<String, Value>>,
    /// Opens credentials; without it they are left out.
    pub(super) cipher: Option<&'a Cipher>,
}

/// The order.
pub(super) fn order(catalog: &Catalog, parts: &OrderSource<'_>) -> Result<Order, Finding> {
    let refused =
        |problem: String, action: &str| Finding::new(subject(parts.instance), problem, action);
    let plan = catalog.plan(parts.plan_id).ok_or_else(|| {
        let problem = format!("plan {} is not in the catalog", parts.plan_id);
        refused(problem, "add the plan to the catalog and import again")
    })?;
    let unreadable = |what: &str| {
        let problem = format!("the {what} of its order cannot be read");
        refused(problem, "look at its provisioning parameters in the original's database")
    };
    let mut given = parts.parameters["ers_context"].clone();
    let closed = |what: &str| {
        let problem = format!("its {what} cannot be decrypted");
        refused(problem, "import again with the key that the original uses")
    };
    let credentials = credentials(&mut given, parts.cipher);
    credentials.map_err(|()| closed("credentials for the BTP operator"))?;
    let mut context: Context = serde_json::from_value(given).map_err(|_| unreadable("context"))?;
    if !parts.account.is_empty() {
        parts.account.clone_into(&mut context.globalaccount_id);
    }
    let parameters = &parts.parameters["parameters"];
    let mut ordered: Provisioning =
        serde_json::from_value(parameters.clone()).map_err(|_| unreadable("parameters"))?;
    ordered.kubeconfig =
        kubeconfig(ordered.kubeconfig.as_ref(), parts.cipher).map_err(|()| closed("kubeconfig"))?;
    let place = place(catalog, parts, plan);
    let resolved = resolved(catalog, parts, plan, &place, &ordered, &context);
    let resolved = resolved.map_err(|why| {
        refused(
            format!("its order does not fit the catalog: {why}"),
            "adjust the catalog and import again",
        )
    })?;
    let subscription = parts.subscription_account;
    let moved = !subscription.is_empty() && subscription != context.globalaccount_id;
    Ok(Order {
        instance_id: parts.instance.to_owned(),
        service_id: words(&parts.parameters["service_id"])
            .unwrap_or_else(|| catalog.service_id().to_owned()),
        plan_id: plan.id().to_owned(),
        plan_name: plan.name().to_owned(),
        plan_kind: plan.kind(),
        platform_region: place.platform_region,
        platform_provider: place.provider,
        context,
        shoot_name: words(&parts.data["shoot_name"])
            .or(ordered.shoot_name.clone())
            .unwrap_or_default(),
        shoot_domain: words(&parts.data["shoot_domain"])
            .or(ordered.shoot_domain.clone())
            .unwrap_or_default(),
        parameters: ordered,
        resolved,
        dashboard_url: parts.dashboard_url.to_owned(),
        subscription_account: moved.then(|| subscription.to_owned()),
        context_revisions: crate::ContextRevisions::default(),
    })
}

/// The order as the platform sent it, by which a repetition is recognised: what the operation says that it began with. The
/// instance has what was changed since, and the operation the account's secret that the original chose.
pub(super) fn as_sent(
    catalog: &Catalog,
    parts: &OrderSource<'_>,
    operations: &[KebOperation],
) -> Option<Order> {
    let began = operations.iter().find(|it| it.kind == PROVISION)?;
    let parameters = &began.provisioning_parameters;
    let mut sent = order(catalog, &OrderSource { parameters, account: "", ..*parts }).ok()?;
    sent.parameters.target_secret = words(&parts.parameters["parameters"]["targetSecret"]);
    Some(sent)
}

/// From where it was ordered, in the original's words.
fn place(catalog: &Catalog, parts: &OrderSource<'_>, plan: &Plan) -> PlatformRegion {
    let region = words(&parts.parameters["platform_region"]);
    let known = catalog.place(region.as_deref());
    let label = words(&parts.parameters["platform_provider"]);
    let provider = label.and_then(|label| Provider::from_label(&label)).or(known.provider);
    // Freemium clusters stand where the platform does.
    let built = Provider::from_label(parts.provider).filter(|_| plan.kind() == Kind::Free);
    PlatformRegion {
        platform_region: region.unwrap_or_default(),
        provider: built.or(provider),
        eu_access: parts.data["eu_access"].as_bool().unwrap_or(known.eu_access),
    }
}

/// The resolved order: as the cluster was built, and from the catalog where that is not known.
fn resolved(
    catalog: &Catalog,
    parts: &OrderSource<'_>,
    plan: &Plan,
    place: &PlatformRegion,
    ordered: &Provisioning,
    context: &Context,
) -> Result<ResolvedOrder, String> {
    let orderer =
        Orderer { user_id: &context.user_id, license_type: context.license_type.as_deref() };
    let mut asked = ordered.clone();
    if plan.kind() == Kind::Trial {
        // The default may have changed since, and an order may have been accepted that could never be made.
        let built = [parts.provider, ordered.provider.as_deref().unwrap_or_default()];
        let built = built.into_iter().find(|label| Provider::from_label(label).is_some());
        asked.provider = built.map(str::to_owned);
    }
    let random = Uuid::new_v4().into_bytes();
    let resolved = catalog.resolve(plan, place, &asked, &orderer, random);
    let mut resolved = resolved.map_err(|refusal| refusal.description)?;
    if let (Some(cluster), Some(sent)) = (&mut resolved.cluster, parts.sent) {
        cluster::as_built(cluster, sent, ordered);
        let filter = sent.get("shootNetworkingFilterDisabled").and_then(Value::as_bool);
        resolved.network_filter_disabled = filter.unwrap_or(resolved.network_filter_disabled);
    }
    Ok(resolved)
}

/// Opens the credentials in a context, or takes them out.
fn credentials(context: &mut Value, cipher: Option<&Cipher>) -> Result<(), ()> {
    let Some(fields) = context.as_object_mut() else { return Ok(()) };
    let Some(given) = fields.get_mut("sm_operator_credentials") else { return Ok(()) };
    let Some(cipher) = cipher.filter(|_| given.is_object()) else {
        fields.remove("sm_operator_credentials");
        return Ok(());
    };
    for name in ["clientid", "clientsecret"] {
        let opened = cipher.open(given[name].as_str().unwrap_or_default()).map_err(drop)?;
        given[name] = opened.into();
    }
    Ok(())
}

/// The kubeconfig in clear. The original takes one that it cannot decrypt as it is.
fn kubeconfig(given: Option<&Sensitive>, cipher: Option<&Cipher>) -> Result<Option<Sensitive>, ()> {
    let (Some(given), Some(cipher)) = (given, cipher) else { return Ok(None) };
    match cipher.open(given.expose()) {
        Ok(opened) if opened.is_empty() => Ok(None),
        Ok(opened) => Ok(Some(opened.into())),
        Err(_) if given.expose().contains("apiVersion") => Ok(Some(given.clone())),
        Err(_) => Err(()),
    }
}
