//! Rules about what few Shoots set: issuers, schedules, references, metadata.

use serde_json::{Value, json};

use super::{Answer, Case, MADE, both};

/// Creations, as in the table above.
pub(super) fn cases() -> Vec<Case> {
    [issuers(), references(), settings(), metadata(), machines()].concat()
}

fn issuer(key: &str, value: Value) -> Value {
    let mut config = json!({"clientID": "kcp", "issuerURL": "https://issuer.example.org"});
    match value {
        Value::Null => drop(config.as_object_mut().unwrap().shift_remove(key)),
        value => config[key] = value,
    }
    json!({"oidcConfig": config})
}

fn issuers() -> Vec<Case> {
    let at = "/spec/kubernetes/kubeAPIServer";
    let same =
        |key: &str, value: Value, answer: Answer| both(at, issuer(key, value), (422, answer.1));
    let empty = |key: &str, text: &'static str| same(key, json!(""), (422, text));
    let other = |key: &str, value: Value, older: &'static str, newer: &'static str| {
        (at, issuer(key, value), (422, older), (403, newer))
    };
    vec![
        both(at, issuer("groupsClaim", json!("groups")), MADE),
        empty("groupsClaim", "oidcConfig.groupsClaim: Invalid value"),
        empty("groupsPrefix", "oidcConfig.groupsPrefix: Invalid value"),
        empty("usernameClaim", "oidcConfig.usernameClaim: Invalid value"),
        empty("usernamePrefix", "oidcConfig.usernamePrefix: Invalid value"),
        same("signingAlgs", json!(["FOO"]), (422, "signingAlgs[0]: Unsupported value: \"FOO\"")),
        same("caBundle", json!("xx"), (422, "oidcConfig.caBundle: Invalid value: \"xx\"")),
        same("issuerURL", json!("http://a.b"), (422, "must have https scheme")),
        other(
            "issuerURL",
            json!(""),
            "issuerURL cannot be empty when key is provided",
            "oidcConfig.issuerURL: Required value: issuerURL cannot be empty",
        ),
        other(
            "issuerURL",
            Value::Null,
            "issuerURL must be set when clientID is provided",
            "oidcConfig.issuerURL: Required value",
        ),
        other(
            "clientID",
            Value::Null,
            "clientID must be set when issuerURL is provided",
            "oidcConfig.clientID: Required value",
        ),
        (
            at,
            json!({"oidcConfig": {}}),
            MADE,
            (403, "clientID must be set when oidcConfig is provided"),
        ),
    ]
}

fn references() -> Vec<Case> {
    let resource = json!([{"name": "a", "resourceRef": {
        "apiVersion": "v1", "kind": "Secret", "name": "x",
    }}]);
    vec![
        both(
            "/spec/extensions",
            json!([{"type": "foo"}]),
            (403, "non-registered extension type: spec.extensions[0].type (\"foo\")"),
        ),
        both(
            "/spec/networking/type",
            json!("foo"),
            (403, "non-registered networking type: spec.networking.type (\"foo\")"),
        ),
        (
            "/spec/resources",
            resource,
            (403, "failed to resolve shoot resource reference \"a\": secrets \"x\" not found"),
            (403, "failed to resolve resource reference \"a\": secrets \"x\" not found"),
        ),
        both(
            "/spec/dns",
            json!({"providers": [{"type": "aws-route53", "secretName": "x"}]}),
            (403, "secrets \"x\" not found"),
        ),
        both(
            "/spec/tolerations",
            json!([{"key": "foo"}]),
            (403, "spec.tolerations[0]: Forbidden: only the following tolerations are allowed"),
        ),
        (
            "/spec/secretBindingName",
            json!(""),
            (500, "could not find referenced secret binding"),
            (403, "secretbinding.core.gardener.cloud \"\" not found"),
        ),
        both(
            "/spec/secretBindingName",
            json!("gcp-free-1"),
            (403, "provider type of referenced SecretBinding: \"gcp\""),
        ),
        both(
            "/spec/provider/type",
            json!("AWS"),
            (403, "provider type of referenced CloudProfile: \"aws\""),
        ),
        (
            "/spec/kubernetes/version",
            json!("abc"),
            (403, "spec.kubernetes.version: Unsupported value"),
            (403, "spec.kubernetes.version: Invalid value: \"abc\": must be a semantic version"),
        ),
    ]
}

fn settings() -> Vec<Case> {
    let schedule = |key: &str, value: &str| {
        let mut schedule = json!({"start": "00 20 * * *"});
        schedule[key] = json!(value);
        json!({"schedules": [schedule]})
    };
    let server = "/spec/kubernetes/kubeAPIServer";
    vec![
        both(
            "/spec/hibernation",
            schedule("start", "foo"),
            (422, "spec.hibernation.schedules[0].start: Invalid value: \"foo\""),
        ),
        both(
            "/spec/hibernation",
            schedule("location", "Mars/X"),
            (422, "spec.hibernation.schedules[0].location: Invalid value: \"Mars/X\""),
        ),
        both("/spec/hibernation", schedule("location", "Europe/Berlin"), MADE),
        both(
            server,
            json!({"auditConfig": {"auditPolicy": {"configMapRef": {}}}}),
            (422, "auditConfig.auditPolicy.configMapRef.name: Required value"),
        ),
        both(server, json!({"eventTTL": "192h"}), (422, "kubeAPIServer.eventTTL: Invalid value")),
        both(
            "/spec/kubernetes/clusterAutoscaler",
            json!({"scaleDownUtilizationThreshold": -1}),
            (422, "clusterAutoscaler.scaleDownUtilizationThreshold: Invalid value"),
        ),
        both(
            "/spec/monitoring",
            json!({"alerting": {"emailReceivers": ["foo"]}}),
            (422, "spec.monitoring.alerting.emailReceivers[0]: Invalid value: \"foo\""),
        ),
        both(
            "/spec/seedSelector",
            json!({"matchExpressions": [{"key": "a", "operator": "Foo"}]}),
            (422, "spec.seedSelector.matchExpressions[0].operator: Invalid value: \"Foo\""),
        ),
        ("/spec/addons", json!({"nginxIngress": {"enabled": true}}), MADE, MADE),
    ]
}

fn metadata() -> Vec<Case> {
    let key = "gardener.cloud/operation";
    let operation = |value: &str| json!({ key: value });
    let at = "metadata.annotations[gardener.cloud/operation]: ";
    let said = |rest: &str| -> &'static str { format!("{at}{rest}").leak() };
    vec![
        both("/metadata/annotations", json!({"a b": "c"}), (422, "metadata.annotations: Invalid")),
        both("/metadata/finalizers", json!(["foo bar/x"]), (422, "metadata.finalizers: Invalid")),
        both(
            "/metadata/annotations",
            operation("rotate-ca-start"),
            (422, said("Forbidden: cannot start CA rotation if shoot was not yet created")),
        ),
        both(
            "/metadata/annotations",
            operation("rotate-credentials-start"),
            (422, said("Forbidden: cannot start rotation of all credentials")),
        ),
        both(
            "/metadata/annotations",
            operation("foo"),
            (422, said("Unsupported value: \"foo\": supported values: \"maintain\"")),
        ),
        both(
            "/metadata/annotations",
            json!({"maintenance.gardener.cloud/operation": "foo"}),
            (422, "metadata.annotations[maintenance.gardener.cloud/operation]: Unsupported value"),
        ),
    ]
}

fn machines() -> Vec<Case> {
    let worker = |key: &str| -> &'static str { format!("/spec/provider/workers/0/{key}").leak() };
    vec![
        both(
            worker("kubernetes"),
            json!({"version": "1.26.0"}),
            (422, "workers[0].kubernetes.version: Forbidden: worker group kubernetes version must"),
        ),
        (
            worker("cri"),
            json!({"name": "docker"}),
            (422, "workers[0].cri.name: Forbidden: 'docker' is only allowed"),
            (403, "does not support CRI 'docker'"),
        ),
        (
            worker("name"),
            json!("abcdefghijklmnop"),
            (422, "Too long: must have at most 15 bytes"),
            (422, "Too long: may not be more than 15 bytes"),
        ),
        (
            worker("machine/type"),
            json!("x.large"),
            (403, "machine.type: Invalid value: \"x.large\": machine type 'x.large' does not"),
            (403, "machine.type: Unsupported value: \"x.large\": supported values"),
        ),
        (
            "/spec/provider/workers",
            json!([{
                "name": "a", "machine": {"type": "m5.xlarge"}, "minimum": 1, "maximum": 2,
                "volume": {"type": "gp3", "size": "50Gi"}, "zones": ["eu-central-1a", "eu-central-1b", "eu-central-1c"],
            }]),
            (403, "workers[0].zones[1]: Invalid value: \"eu-central-1b\": supported values"),
            (422, "maximum node count should be greater than or equal to the number of zones"),
        ),
        (
            worker("maximum"),
            json!(501),
            MADE,
            (403, "workers[0].maximum: Forbidden: the maximum node count of a worker pool"),
        ),
    ]
}
