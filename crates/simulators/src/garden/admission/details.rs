//! Static rules for what few Shoots set: monitoring, audits, selectors, providers of domains, resources, and metadata.

use cluster::Cause;
use serde_json::Value;

use super::{list, meta, places::places, text, unsupported};
use crate::garden::version::Version;

/// What the operators of a selector need: values, none, or either.
const OPERATORS: [(&str, bool); 4] =
    [("In", true), ("NotIn", true), ("Exists", false), ("DoesNotExist", false)];
/// The provider of domains that does nothing.
const UNMANAGED: &str = "unmanaged";
/// Finalizers that Gardener puts on itself.
const OWN_FINALIZERS: [&str; 2] = ["gardener", "gardener.cloud/reference-protection"];

/// The fields of a reference to another object, and the words that each may have.
const REFERENCE: [(&str, &[&str]); 3] =
    [("apiVersion", &["v1"]), ("kind", &["Secret", "ConfigMap"]), ("name", &[])];

/// Names what is wrong.
pub(super) fn check(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    audits(shoot, causes);
    mails(shoot, causes);
    selector(shoot, causes);
    providers(shoot, causes);
    resources(shoot, gardener, causes);
    tolerations(shoot, causes);
    extensions(shoot, gardener, causes);
    suffixes(shoot, causes);
    taints(shoot, causes);
    if gardener >= Version::V1_117 {
        issuers(shoot, causes);
        encrypted(shoot, causes);
    }
}

/// Taints that the autoscaler does not mind.
fn taints(shoot: &Value, causes: &mut Vec<Cause>) {
    for key in ["ignoreTaints", "startupTaints", "statusTaints"] {
        let path = format!("/spec/kubernetes/clusterAutoscaler/{key}");
        for (place, (field, taint)) in places(shoot, &format!("{path}/*")).into_iter().enumerate() {
            let name = taint.as_str().unwrap_or_default();
            let wrong = meta::key(name).into_iter();
            causes.extend(wrong.map(|why| Cause::invalid(field.clone(), name, why)));
            if list(shoot, &path)[..place].contains(taint) {
                causes.push(duplicate(field, name));
            }
        }
    }
}

/// Issuers of tokens for service accounts, besides the one that issues new ones.
fn issuers(shoot: &Value, causes: &mut Vec<Cause>) {
    let config = "/spec/kubernetes/kubeAPIServer/serviceAccountConfig";
    let own = shoot.pointer(&format!("{config}/issuer"));
    let path = format!("{config}/acceptedIssuers");
    for (place, (field, issuer)) in places(shoot, &format!("{path}/*")).into_iter().enumerate() {
        let written = issuer.as_str().unwrap_or_default();
        if own == Some(issuer) {
            let why = format!("acceptedIssuers cannot contains the issuer field value: {written}");
            causes.push(Cause::invalid(field, written, &why));
        } else if list(shoot, &path)[..place].contains(issuer) {
            causes.push(duplicate(field, written));
        }
    }
}

/// What is encrypted besides Secrets, which always are.
fn encrypted(shoot: &Value, causes: &mut Vec<Cause>) {
    let path = "/spec/kubernetes/kubeAPIServer/encryptionConfig/resources";
    for (place, (field, resource)) in places(shoot, &format!("{path}/*")).into_iter().enumerate() {
        let written = resource.as_str().unwrap_or_default();
        if list(shoot, path)[..place].contains(resource) {
            causes.push(duplicate(field.clone(), written));
        }
        if written.trim_end_matches('.') == "secrets" {
            let why = format!("{written:?} are always encrypted");
            causes.push(Cause::forbidden(field, &why));
        } else if written.starts_with('*') {
            causes.push(Cause::invalid(field, written, "wildcards are not supported"));
        }
    }
}

fn audits(shoot: &Value, causes: &mut Vec<Cause>) {
    let path = "/spec/kubernetes/kubeAPIServer/auditConfig/auditPolicy/configMapRef";
    for (field, map) in places(shoot, path) {
        if text(map, "/name").is_none() {
            causes.push(Cause::required(format!("{field}.name"), "must provide a name"));
        }
    }
    let caches = "/spec/kubernetes/kubeAPIServer/watchCacheSizes/resources/*";
    for (field, cache) in places(shoot, caches) {
        if text(cache, "/resource").is_none() {
            causes.push(Cause::required(format!("{field}.resource"), "must not be empty"));
        }
    }
}

fn mails(shoot: &Value, causes: &mut Vec<Cause>) {
    let path = "/spec/monitoring/alerting/emailReceivers";
    for (place, (field, mail)) in places(shoot, &format!("{path}/*")).into_iter().enumerate() {
        let written = mail.as_str().unwrap_or_default();
        if !is_mail(written) {
            causes.push(Cause::invalid(field.clone(), written, "must provide a valid email"));
        }
        if list(shoot, path)[..place].contains(mail) {
            causes.push(duplicate(field, written));
        }
    }
}

/// Somebody at a domain of at least two words, the last of which has letters only.
fn is_mail(written: &str) -> bool {
    let Some((who, domain)) = written.split_once('@') else { return false };
    let Some((rest, last)) = domain.rsplit_once('.') else { return false };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !who.is_empty()
        && rest.split('.').all(|word| !word.is_empty() && word.chars().all(plain))
        && last.len() >= 2
        && last.chars().all(|c| c.is_ascii_alphabetic())
}

fn selector(shoot: &Value, causes: &mut Vec<Cause>) {
    let labels = &shoot["spec"]["seedSelector"]["matchLabels"];
    meta::labels(labels, "spec.seedSelector.matchLabels", causes);
    for (field, one) in places(shoot, "/spec/seedSelector/matchExpressions/*") {
        let operator = text(one, "/operator").unwrap_or_default();
        let has_values = !list(one, "/values").is_empty();
        let needs = OPERATORS.iter().find(|(name, _)| *name == operator).map(|(_, needs)| *needs);
        match needs {
            Some(true) if !has_values => {
                let why = "must be specified when `operator` is 'In' or 'NotIn'";
                causes.push(Cause::required(format!("{field}.values"), why));
            }
            Some(false) if has_values => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.push(Cause::forbidden(format!("{field}.values"), why));
            }
            Some(_) => {}
            None => {
                let why = "not a valid selector operator";
                causes.push(Cause::invalid(format!("{field}.operator"), operator, why));
            }
        }
        let key = text(one, "/key").unwrap_or_default();
        let wrong = meta::key(key).into_iter();
        causes.extend(wrong.map(|why| Cause::invalid(format!("{field}.key"), key, why)));
    }
}

/// Who keeps the records of a Shoot's domain.
fn providers(shoot: &Value, causes: &mut Vec<Cause>) {
    let all = list(shoot, "/spec/dns/providers");
    let primary = all.iter().find(|one| one["primary"] == true);
    let kind = primary.and_then(|one| one["type"].as_str());
    if kind.is_some_and(|kind| kind != UNMANAGED) && shoot["spec"]["dns"]["domain"].is_null() {
        let why =
            format!("domain must be set when primary provider type is not set to {UNMANAGED:?}");
        causes.push(Cause::required("spec.dns.domain", &why));
    }
    for (place, one) in all.iter().enumerate() {
        let field = format!("spec.dns.providers[{place}]");
        let (kind, secret) = (one["type"].as_str(), one["secretName"].as_str());
        let same = |other: &&Value| {
            other["type"] == one["type"] && other["secretName"] == one["secretName"]
        };
        if let (Some(kind), Some(secret)) = (kind, secret) {
            let name = format!("{kind}-{secret}");
            if all[..place].iter().any(|other| same(&other)) {
                let why =
                    "combination of .secretName and .type must be unique across dns providers";
                causes.push(Cause::invalid(field, &name, why));
                continue;
            }
            let wrong = meta::subdomain(&name);
            causes.extend(wrong.map(|why| Cause::invalid(field.clone(), &name, why)));
        }
        if one["primary"] == true && all[..place].iter().any(|other| other["primary"] == true) {
            let why = "multiple primary DNS providers are not supported";
            causes.push(Cause::forbidden(format!("{field}.primary"), why));
        } else if let Some(secret) = secret.filter(|_| kind == Some(UNMANAGED)) {
            let why = format!("secretName must not be set when type is {UNMANAGED:?}");
            causes.push(Cause::invalid(format!("{field}.secretName"), secret, &why));
        } else if secret.is_some() && kind.is_none() {
            let why = "type must be set when secretName is set";
            causes.push(Cause::required(format!("{field}.type"), why));
        }
    }
}

fn resources(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let all = list(shoot, "/spec/resources");
    for (place, one) in all.iter().enumerate() {
        let field = format!("spec.resources[{place}]");
        let word = |key: &str| one["resourceRef"][key].as_str().unwrap_or_default();
        match text(one, "/name") {
            None => {
                causes.push(Cause::required(format!("{field}.name"), "field must not be empty"));
            }
            Some(name) if all[..place].iter().any(|other| other["name"] == name) => {
                causes.push(duplicate(format!("{field}.name"), name));
            }
            Some(_) => {}
        }
        for (key, possible) in REFERENCE {
            let at = format!("{field}.resourceRef.{key}");
            if word(key).is_empty() {
                causes.push(Cause::required(at, &format!("must provide a {key}")));
            } else if gardener >= Version::V1_117
                && !possible.is_empty()
                && !possible.contains(&word(key))
            {
                causes.push(unsupported(at, word(key), possible.iter().copied()));
            }
        }
    }
}

fn tolerations(shoot: &Value, causes: &mut Vec<Cause>) {
    let all = list(shoot, "/spec/tolerations");
    let id = |one: &Value| {
        let key = text(one, "/key").unwrap_or_default();
        text(one, "/value").map_or_else(|| key.to_owned(), |value| format!("{key}={value}"))
    };
    for (place, one) in all.iter().enumerate() {
        let field = format!("spec.tolerations[{place}]");
        let key = text(one, "/key").unwrap_or_default();
        if key.is_empty() {
            causes.push(Cause::required(format!("{field}.key"), "cannot be empty"));
        }
        if all[..place].iter().map(id).any(|other| other == id(one) || other == key) {
            causes.push(duplicate(field, &id(one)));
        }
    }
}

fn extensions(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let all = list(shoot, "/spec/extensions");
    for (place, one) in all.iter().enumerate() {
        let field = format!("spec.extensions[{place}].type");
        match text(one, "/type") {
            None => causes.push(Cause::required(field, "field must not be empty")),
            Some(kind) => {
                let twice = all[..place].iter().any(|other| other["type"] == kind);
                causes
                    .extend((twice && gardener >= Version::V1_117).then(|| duplicate(field, kind)));
            }
        }
    }
}

/// Domains whose names the cluster's DNS rewrites.
fn suffixes(shoot: &Value, causes: &mut Vec<Cause>) {
    let path = "/spec/systemComponents/coreDNS/rewriting/commonSuffixes";
    let bare = |value: &Value| {
        let written = value.as_str().unwrap_or_default();
        written.strip_prefix('.').unwrap_or(written).to_owned()
    };
    for (place, (field, suffix)) in places(shoot, &format!("{path}/*")).into_iter().enumerate() {
        let own = bare(suffix);
        if !own.contains('.') {
            let why = "must contain at least one non-leading dot ('.')";
            causes.push(Cause::invalid(field.clone(), suffix.as_str().unwrap_or_default(), why));
        }
        if list(shoot, path)[..place].iter().any(|other| bare(other) == own) {
            causes.push(duplicate(field, &own));
        }
    }
}

fn duplicate(field: String, value: &str) -> Cause {
    let message = format!("Duplicate value: {value:?}");
    Cause { reason: "FieldValueDuplicate", field, message }
}

/// Names keys, labels and finalizers that Kubernetes does not take, and what Gardener puts there itself.
pub(super) fn metadata(
    shoot: &Value,
    old: Option<&Value>,
    gardener: Version,
    causes: &mut Vec<Cause>,
) {
    meta::labels(&shoot["metadata"]["labels"], "metadata.labels", causes);
    meta::annotations(&shoot["metadata"]["annotations"], "metadata.annotations", causes);
    let newer = gardener >= Version::V1_117;
    let finalizers = list(shoot, "/metadata/finalizers").iter().filter_map(Value::as_str);
    for (place, finalizer) in finalizers.enumerate() {
        let wrong = meta::key(finalizer).into_iter();
        causes.extend(wrong.map(|why| Cause::invalid("metadata.finalizers", finalizer, why)));
        if newer && old.is_none() && OWN_FINALIZERS.contains(&finalizer) {
            let why = format!("finalizer {finalizer:?} cannot be added on creation");
            causes.push(Cause::forbidden(format!("metadata.finalizers[{place}]"), &why));
        }
    }
    let forced = |shoot: &Value| super::annotation(shoot, FORCED).is_some_and(super::is_true);
    if newer && forced(shoot) && !old.is_some_and(forced) {
        let why = "force-deletion annotation cannot be set when Shoot deletionTimestamp is nil";
        causes.push(Cause::forbidden(format!("metadata.annotations[{FORCED}]"), why));
    }
}

/// Says that a Shoot goes although what it left cannot be cleaned up.
const FORCED: &str = "confirmation.gardener.cloud/force-deletion";
