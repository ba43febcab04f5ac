//! Kubernetes' feature gates and admission plugins: which there are in a version, and which can be switched.

use cluster::Cause;
use serde_json::Value;

use super::{kubelet, list, places::places, text, version};
use crate::garden::version::Version;

/// One row per feature gate.
const GATES: &str = include_str!("../schema/gates.txt");
/// What has feature gates besides the kubelets.
const COMPONENTS: [&str; 4] =
    ["kubeAPIServer", "kubeControllerManager", "kubeScheduler", "kubeProxy"];

/// The releases of Kubernetes that the Gardeners know: the oldest and the newest minor of 1.65 and of 1.117.
const KNOWN: (Releases, Releases) = ((16, 26), (27, 32));
type Releases = (u32, u32);

/// A feature gate in the eyes of one Gardener.
struct Gate {
    since: Option<u32>,
    until: Option<u32>,
    /// From when on it has one value only.
    locked: Option<(u32, bool)>,
}

impl Gate {
    /// The gate of a name, if the Gardener knows it. What has happened in releases after its own, it cannot know.
    fn named(wanted: &str, (oldest, newest): Releases) -> Option<Self> {
        let rows = GATES.lines().filter(|row| !row.starts_with('#'));
        let mut rows = rows.map(|row| row.split(' ').collect::<Vec<_>>());
        let row = rows.find(|row| row[0] == wanted)?;
        let minor = |text: &str| text.parse::<u32>().ok();
        let (since, until) = (minor(row[1]), minor(row[2]));
        let locked =
            row[3].split_once('=').and_then(|(at, value)| Some((minor(at)?, value == "true")));
        let is_known =
            since.is_none_or(|since| since <= newest) && until.is_none_or(|until| until > oldest);
        is_known.then_some(Self {
            since,
            until: until.filter(|until| *until <= newest),
            locked: locked.filter(|(at, _)| *at <= newest),
        })
    }

    /// Why it cannot have a value in a release.
    fn refusal(&self, release: u32, value: bool) -> Option<String> {
        let is_there = self.since.is_none_or(|since| release >= since)
            && self.until.is_none_or(|until| release < until);
        match self.locked {
            _ if !is_there => Some(format!("not supported in Kubernetes version 1.{release}")),
            Some((at, only)) if release >= at && value != only => {
                Some(format!("cannot set feature gate to {value}, feature is locked to {only}"))
            }
            _ => None,
        }
    }
}

/// Names gates and plugins that there are not.
pub(super) fn check(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let minor = |path: &str| text(shoot, path).and_then(version::parts).map(|parts| parts.1);
    let Some(release) = minor("/spec/kubernetes/version") else { return };
    let known = if gardener < Version::V1_117 { KNOWN.0 } else { KNOWN.1 };
    let components = COMPONENTS.iter().map(|name| format!("/spec/kubernetes/{name}"));
    let kubelets = kubelet::PLACES.iter().map(|&place| place.to_owned());
    for place in components.chain(kubelets) {
        for (field, gates) in places(shoot, &format!("{place}/featureGates")) {
            for (name, value) in gates.as_object().into_iter().flatten() {
                let field = format!("{field}.{name}");
                match Gate::named(name, known) {
                    None => {
                        let why = format!("unknown feature gate {name}");
                        causes.push(Cause::invalid(field, name, &why));
                    }
                    Some(gate) => {
                        let why = gate.refusal(release, *value == true);
                        causes.extend(why.map(|why| Cause::forbidden(field, &why)));
                    }
                }
            }
        }
    }
    plugins(shoot, gardener, release, causes);
}

/// The admission plugins of Kubernetes' API server: name, the release that added it and the one that removed it.
const PLUGINS: [(&str, u32, u32); 38] = [
    ("AlwaysAdmit", 0, NEVER),
    ("AlwaysDeny", 0, NEVER),
    ("AlwaysPullImages", 0, NEVER),
    ("CertificateApproval", 18, NEVER),
    ("CertificateSigning", 18, NEVER),
    ("CertificateSubjectRestriction", 18, NEVER),
    ("ClusterTrustBundleAttest", 27, NEVER),
    ("DefaultIngressClass", 18, NEVER),
    ("DefaultStorageClass", 0, NEVER),
    ("DefaultTolerationSeconds", 0, NEVER),
    ("DenyServiceExternalIPs", 21, NEVER),
    ("EventRateLimit", 0, NEVER),
    ("ExtendedResourceToleration", 0, NEVER),
    ("ImagePolicyWebhook", 0, NEVER),
    ("LimitPodHardAntiAffinityTopology", 0, NEVER),
    ("LimitRanger", 0, NEVER),
    ("MutatingAdmissionPolicy", 32, NEVER),
    ("MutatingAdmissionWebhook", 0, NEVER),
    ("NamespaceAutoProvision", 0, NEVER),
    ("NamespaceExists", 0, NEVER),
    ("NamespaceLifecycle", 0, NEVER),
    ("NodeRestriction", 0, NEVER),
    ("OwnerReferencesPermissionEnforcement", 0, NEVER),
    ("PersistentVolumeClaimResize", 0, NEVER),
    ("PersistentVolumeLabel", 0, 31),
    ("PodNodeSelector", 0, NEVER),
    ("PodSecurity", 22, NEVER),
    ("PodSecurityPolicy", 0, 25),
    ("PodTolerationRestriction", 0, NEVER),
    ("Priority", 0, NEVER),
    ("ResourceQuota", 0, NEVER),
    ("RuntimeClass", 0, NEVER),
    ("SecurityContextDeny", 0, 30),
    ("ServiceAccount", 0, NEVER),
    ("StorageObjectInUseProtection", 0, NEVER),
    ("TaintNodesByCondition", 0, NEVER),
    ("ValidatingAdmissionPolicy", 26, NEVER),
    ("ValidatingAdmissionWebhook", 0, NEVER),
];
const NEVER: u32 = u32::MAX;
/// Plugins that Gardener needs.
const NEEDED: [&str; 7] = [
    "MutatingAdmissionWebhook",
    "NamespaceLifecycle",
    "NodeRestriction",
    "PodSecurity",
    "Priority",
    "StorageObjectInUseProtection",
    "ValidatingAdmissionWebhook",
];
/// A plugin that Gardener does not allow.
const UNWANTED: &str = "SecurityContextDeny";

fn plugins(shoot: &Value, gardener: Version, release: u32, causes: &mut Vec<Cause>) {
    let older = gardener < Version::V1_117;
    let (oldest, newest) = if older { KNOWN.0 } else { KNOWN.1 };
    let known = |name: &str| {
        let mut all = PLUGINS.iter().copied();
        all.find(|(one, since, until)| *one == name && *since <= newest && *until > oldest)
    };
    let plugins = list(shoot, "/spec/kubernetes/kubeAPIServer/admissionPlugins");
    for (place, plugin) in plugins.iter().enumerate() {
        let at = format!("spec.kubernetes.kubeAPIServer.admissionPlugins[{place}]");
        let Some(name) = text(plugin, "/name") else {
            causes.push(Cause::required(format!("{at}.name"), "must provide a name"));
            return;
        };
        let is_disabled = plugin["disabled"] == true;
        let Some((_, since, until)) = known(name) else {
            let why = format!("unknown admission plugin {name:?}");
            causes.push(Cause::invalid(format!("{at}.name"), name, &why));
            continue;
        };
        // What a Gardener does not know of, it does not hold against a plugin.
        let is_there = release >= since && (release < until || until > newest);
        let is_ignored = older && is_disabled;
        if !is_there && !is_ignored {
            let why = format!(
                "admission plugin {name:?} is not supported in Kubernetes version 1.{release}"
            );
            causes.push(Cause::forbidden(format!("{at}.name"), &why));
            continue;
        }
        if name == UNWANTED {
            let why = format!(
                "forbidden admission plugin was specified - do not use plugins from the following list: [{UNWANTED}]"
            );
            causes.push(Cause::forbidden(format!("{at}.name"), &why));
        }
        if is_disabled && NEEDED.contains(&name) {
            let why = format!("admission plugin {name:?} cannot be disabled");
            causes.push(Cause::forbidden(at.clone(), &why));
        }
        let config = &plugin["config"];
        if name == "PodSecurity"
            && config.is_object()
            && config["kind"] != "PodSecurityConfiguration"
        {
            let why = "expected pod-security.admission.config.k8s.io/v1.PodSecurityConfiguration";
            causes.push(Cause::invalid(format!("{at}.config"), &config.to_string(), why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gardener_knows_the_gates_of_its_own_time() {
        let refusal = |name: &str, known: Releases, release: u32, value: bool| {
            Gate::named(name, known).map(|gate| gate.refusal(release, value).is_some())
        };

        assert_eq!(refusal("Foo", KNOWN.0, 25, true), None, "there is none");
        assert_eq!(refusal("NodeSwap", KNOWN.0, 25, true), Some(false));
        assert_eq!(refusal("NodeSwap", KNOWN.0, 21, true), Some(true), "not yet there");
        assert_eq!(refusal("APIPriorityAndFairness", KNOWN.1, 31, true), Some(true), "gone");
        assert_eq!(refusal("APIPriorityAndFairness", KNOWN.0, 31, true), Some(false), "goes later");
        assert_eq!(refusal("APIPriorityAndFairness", KNOWN.1, 29, false), Some(true), "locked");
        assert_eq!(refusal("InPlacePodVerticalScaling", KNOWN.0, 31, true), None, "came later");
    }
}
