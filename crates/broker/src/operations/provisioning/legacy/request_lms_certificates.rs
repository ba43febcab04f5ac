//! Waits for the logging tenant and gives the runtime a certificate to send logs with.
//!
//! What a reader would get wrong: it never fails the operation. A runtime without logging is better than none.

use base64::{Engine, prelude::BASE64_STANDARD};
use clients::{
    Kind,
    lms::{CertificateRequest, Info, Lms},
};
use engine::{Applies, Condition, Ending};
use secrecy::ExposeSecret;
use store::broker::InstanceChange;
use uuid::Uuid;

use super::{super::Provisioning, Certificate};
use crate::operations::{
    prelude::*,
    shared::{creator, missing_data, outlasted, require_client, update_instance},
};

const COMPONENT: &str = "logging";

/// How long it may take, and how long it may fail.
const PATIENCE: Duration = mins(30);

pub(super) struct RequestLmsCertificates;

/// Only with a tenant that was not given up.
pub(super) const fn has_tenant() -> Condition<Provisioning> {
    Condition::new("there is a logging tenant", |cx| {
        let lms = &cx.data.lms;
        Applies::when(lms.tenant_id.is_some() && !lms.failed, "there is no logging tenant")
    })
}

impl Step<Provisioning> for RequestLmsCertificates {
    const NAME: &'static str = "Request_LMS_Certificates";
    const RETRY: Retry = Retry::DEFAULT
        .polling(secs(5), secs(30))
        .backing_off(secs(5), mins(1))
        .waiting_for(PATIENCE)
        .failing_for(PATIENCE)
        .then_skip();

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let (ended, now) = (requested(cx).await, cx.now);
        let since = &mut cx.data.lms.certificate_awaited_since;
        let failure = match ended {
            Ok(Ending::Wait(later)) => {
                if now < *since.get_or_insert(now) + PATIENCE {
                    return later.into();
                }
                *since = None;
                Failure::new(clients::lms::COMPONENT.0, "timeout", later.reason)
            }
            Ok(ended) => {
                *since = None;
                return Ok(ended);
            }
            Err(error) => outlasted(error, since, now, PATIENCE)?,
        };
        tracing::warn!(operation.id = %cx.operation, %failure, "LMS failed, continuing without logging");
        // Remembered: the stage may start over, and must not wait for it again.
        cx.data.lms.failed = true;
        update_instance(cx, InstanceChange::default())?;
        done()
    }
}

async fn requested(cx: &mut Cx<'_, Provisioning>) -> StepResult {
    let lms = &require_client(cx.env.lms.as_ref(), System::Lms)?.client;
    let tenant = cx.data.lms.tenant_id.clone();
    let tenant = tenant.ok_or_else(|| missing_data("the logging tenant is not known"))?;
    if !lms.readiness(&tenant).await?.is_ready() {
        return waiting("the logging tenant is being made").into();
    }
    let info = lms.tenant(&tenant).await?;
    if cx.memory.certificate.is_none() {
        let certificate = request(lms, &tenant, &cx.input.order.context.globalaccount_id).await?;
        cx.memory.certificate = Some(certificate);
    }
    let Some(kept) = &cx.memory.certificate else {
        return waiting("the certificate is asked for").into();
    };
    let signed = match lms.signed_certificate(&kept.callback).await {
        Ok(signed) => signed,
        Err(error) => {
            // Where it was said to be it is not: the next run asks for another one.
            if !matches!(StepError::from(error.clone()), StepError::Transient { .. })
                || error.kind == Kind::Malformed
            {
                cx.memory.certificate = None;
            }
            return Err(error.into());
        }
    };
    let (Some(signed), Some(authority)) = (signed, lms.authority(&tenant).await?) else {
        return waiting("the certificate is being signed").into();
    };
    let key = kept.key.clone();
    override_logging(cx, &info, [&authority, &signed, key.expose_secret()])?;
    done()
}

async fn request(lms: &Lms, tenant: &str, account: &str) -> Result<Certificate, StepError> {
    let (account, unit) = (account.to_owned(), Uuid::new_v4().to_string());
    // Making a key is a lot of computing.
    let made = tokio::task::spawn_blocking(move || CertificateRequest::new(&account, &unit)).await;
    let made = made.map_err(|error| StepError::internal(&error))??;
    let callback = lms.request_certificate(tenant, &made.csr).await?;
    Ok(Certificate { callback, key: made.key })
}

fn override_logging(
    cx: &mut Cx<'_, Provisioning>,
    info: &Info,
    tls: [&str; 3],
) -> Result<(), StepError> {
    let subaccount = &cx.input.order.context.subaccount_id;
    let [authority, certificate, key] = tls.map(|text| BASE64_STANDARD.encode(text));
    let creator = creator(cx)?;
    creator.label("operator_lmsUrl", info.kibana_url());
    let plain = [
        ("conf.Output.forward.enabled", "true"),
        ("conf.Output.forward.Match", "kube.*"),
        ("backend.forward.host", &info.forward_host()),
        ("backend.forward.port", "8443"),
        ("backend.forward.tls.enabled", "true"),
        ("backend.forward.tls.verify", "On"),
        ("conf.Filter.record_modifier.enabled", "true"),
        ("conf.Filter.record_modifier.Match", "kube.*"),
        ("conf.Filter.record_modifier.Key", "subaccount_id"),
        ("conf.Filter.record_modifier.Value", subaccount),
        ("conf.Filter.Kubernetes.Merge_Log", "Off"),
        (
            "conf.Input.Kubernetes.Exclude_Path",
            "/var/log/containers/*_dex-*.log,/var/log/containers/*_kcproxy-*.log",
        ),
    ];
    let overrides = creator.overrides();
    for (key, value) in plain {
        overrides.set(Some(COMPONENT), &format!("fluent-bit.{key}"), value, false);
    }
    for (name, value) in [("ca", authority), ("cert", certificate), ("key", key)] {
        // The holder of the key sends logs in our name.
        let path = format!("fluent-bit.backend.forward.tls.{name}");
        overrides.set(Some(COMPONENT), &path, &value, name == "key");
    }
    Ok(())
}
