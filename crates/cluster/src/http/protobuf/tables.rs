//! The kinds that are read in binary form: numbers, names and forms of their fields.

/// The type of a field.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Text,
    Bytes,
    Number,
    Truth,
    /// Left out unless it is true.
    Flag,
    Object(&'static [Field]),
    /// Repeated.
    Texts,
    Objects(&'static [Field]),
    /// Objects by text, text by text, and bytes by text.
    ObjectMap(&'static [Field]),
    TextMap,
    BytesMap,
    /// Read and left out: what the server sets itself.
    Ignored,
}

/// Number, name and form of a field.
pub(super) type Field = (u64, &'static str, Form);

const OWNER: &[Field] = &[
    (1, "kind", Form::Text),
    (3, "name", Form::Text),
    (4, "uid", Form::Text),
    (5, "apiVersion", Form::Text),
    (6, "controller", Form::Truth),
    (7, "blockOwnerDeletion", Form::Truth),
];
const METADATA: &[Field] = &[
    (1, "name", Form::Text),
    (2, "generateName", Form::Text),
    (3, "namespace", Form::Text),
    (4, "selfLink", Form::Ignored),
    (5, "uid", Form::Text),
    (6, "resourceVersion", Form::Text),
    (7, "generation", Form::Ignored),
    (8, "creationTimestamp", Form::Ignored),
    (9, "deletionTimestamp", Form::Ignored),
    (10, "deletionGracePeriodSeconds", Form::Ignored),
    (11, "labels", Form::TextMap),
    (12, "annotations", Form::TextMap),
    (13, "ownerReferences", Form::Objects(OWNER)),
    (14, "finalizers", Form::Texts),
    (17, "managedFields", Form::Ignored),
];
const NAMED: &[Field] = &[(1, "name", Form::Text)];
const RULE: &[Field] = &[
    (1, "verbs", Form::Texts),
    (2, "apiGroups", Form::Texts),
    (3, "resources", Form::Texts),
    (4, "resourceNames", Form::Texts),
    (5, "nonResourceURLs", Form::Texts),
];
const SUBJECT: &[Field] = &[
    (1, "kind", Form::Text),
    (2, "apiGroup", Form::Text),
    (3, "name", Form::Text),
    (4, "namespace", Form::Text),
];
const ROLE_REF: &[Field] =
    &[(1, "apiGroup", Form::Text), (2, "kind", Form::Text), (3, "name", Form::Text)];
const BOUND_TO: &[Field] = &[
    (1, "kind", Form::Text),
    (2, "apiVersion", Form::Text),
    (3, "name", Form::Text),
    (4, "uid", Form::Text),
];
const TOKEN_SPEC: &[Field] = &[
    (1, "audiences", Form::Texts),
    (3, "boundObjectRef", Form::Object(BOUND_TO)),
    (4, "expirationSeconds", Form::Number),
];
const PRECONDITIONS: &[Field] = &[(1, "uid", Form::Text), (2, "resourceVersion", Form::Text)];
const META: Field = (1, "metadata", Form::Object(METADATA));
const ROLE: &[Field] = &[META, (2, "rules", Form::Objects(RULE))];
const BINDING: &[Field] =
    &[META, (2, "subjects", Form::Objects(SUBJECT)), (3, "roleRef", Form::Object(ROLE_REF))];

const SELECTOR: &[Field] = &[(1, "matchLabels", Form::TextMap)];
const QUANTITY: &[Field] = &[(1, "string", Form::Text)];
const RESOURCES: &[Field] =
    &[(1, "limits", Form::ObjectMap(QUANTITY)), (2, "requests", Form::ObjectMap(QUANTITY))];
const PORT: &[Field] = &[
    (1, "name", Form::Text),
    (2, "hostPort", Form::Ignored),
    (3, "containerPort", Form::Number),
    (4, "protocol", Form::Text),
    (5, "hostIP", Form::Text),
];
const CONTAINER: &[Field] = &[
    (1, "name", Form::Text),
    (2, "image", Form::Text),
    (3, "command", Form::Texts),
    (4, "args", Form::Texts),
    (5, "workingDir", Form::Text),
    (6, "ports", Form::Objects(PORT)),
    (7, "env", Form::Objects(&[(1, "name", Form::Text), (2, "value", Form::Text)])),
    (8, "resources", Form::Object(RESOURCES)),
    (13, "terminationMessagePath", Form::Text),
    (14, "imagePullPolicy", Form::Text),
    (16, "stdin", Form::Flag),
    (17, "stdinOnce", Form::Flag),
    (18, "tty", Form::Flag),
    (20, "terminationMessagePolicy", Form::Text),
];
const POD: &[Field] = &[
    (2, "containers", Form::Objects(CONTAINER)),
    (3, "restartPolicy", Form::Text),
    (4, "terminationGracePeriodSeconds", Form::Number),
    (6, "dnsPolicy", Form::Text),
    (7, "nodeSelector", Form::TextMap),
    (8, "serviceAccountName", Form::Text),
    (9, "serviceAccount", Form::Text),
    (10, "nodeName", Form::Text),
    (11, "hostNetwork", Form::Flag),
    (12, "hostPID", Form::Flag),
    (13, "hostIPC", Form::Flag),
    (15, "imagePullSecrets", Form::Objects(NAMED)),
    (16, "hostname", Form::Text),
    (17, "subdomain", Form::Text),
    (19, "schedulerName", Form::Text),
    (24, "priorityClassName", Form::Text),
];
const TEMPLATE: &[Field] = &[META, (2, "spec", Form::Object(POD))];
const DEPLOYMENT: &[Field] = &[
    (1, "replicas", Form::Number),
    (2, "selector", Form::Object(SELECTOR)),
    (3, "template", Form::Object(TEMPLATE)),
    (4, "strategy", Form::Object(&[(1, "type", Form::Text)])),
    (5, "minReadySeconds", Form::Ignored),
    (6, "revisionHistoryLimit", Form::Number),
    (7, "paused", Form::Flag),
    (9, "progressDeadlineSeconds", Form::Number),
];
const ACCESS: &[Field] = &[
    (1, "namespace", Form::Text),
    (2, "verb", Form::Text),
    (3, "group", Form::Text),
    (4, "version", Form::Text),
    (5, "resource", Form::Text),
    (6, "subresource", Form::Text),
    (7, "name", Form::Text),
];
const PATH: &[Field] = &[(1, "path", Form::Text), (2, "verb", Form::Text)];
const ACCESS_SPEC: &[Field] = &[
    (1, "resourceAttributes", Form::Object(ACCESS)),
    (2, "nonResourceAttributes", Form::Object(PATH)),
];

/// The kinds we can read.
pub(super) const KINDS: &[(&str, &[Field])] = &[
    ("Namespace", &[META, (2, "spec", Form::Ignored), (3, "status", Form::Ignored)]),
    (
        "ConfigMap",
        &[
            META,
            (2, "data", Form::TextMap),
            (3, "binaryData", Form::BytesMap),
            (4, "immutable", Form::Truth),
        ],
    ),
    (
        "Secret",
        &[
            META,
            (2, "data", Form::BytesMap),
            (3, "type", Form::Text),
            (4, "stringData", Form::TextMap),
            (5, "immutable", Form::Truth),
        ],
    ),
    (
        "ServiceAccount",
        &[
            META,
            (3, "imagePullSecrets", Form::Objects(NAMED)),
            (4, "automountServiceAccountToken", Form::Truth),
        ],
    ),
    ("Role", ROLE),
    ("ClusterRole", ROLE),
    ("RoleBinding", BINDING),
    ("ClusterRoleBinding", BINDING),
    ("Deployment", &[META, (2, "spec", Form::Object(DEPLOYMENT)), (3, "status", Form::Ignored)]),
    (
        "SelfSubjectAccessReview",
        &[META, (2, "spec", Form::Object(ACCESS_SPEC)), (3, "status", Form::Ignored)],
    ),
    (
        "SelfSubjectRulesReview",
        &[
            META,
            (2, "spec", Form::Object(&[(1, "namespace", Form::Text)])),
            (3, "status", Form::Ignored),
        ],
    ),
    ("SelfSubjectReview", &[META, (2, "status", Form::Ignored)]),
    ("TokenRequest", &[META, (2, "spec", Form::Object(TOKEN_SPEC)), (3, "status", Form::Ignored)]),
    (
        "DeleteOptions",
        &[
            (1, "gracePeriodSeconds", Form::Number),
            (2, "preconditions", Form::Object(PRECONDITIONS)),
            (3, "orphanDependents", Form::Truth),
            (4, "propagationPolicy", Form::Text),
            (5, "dryRun", Form::Texts),
        ],
    ),
];
const TYPE: &[Field] = &[(1, "apiVersion", Form::Text), (2, "kind", Form::Text)];
pub(super) const ENVELOPE: &[Field] = &[
    (1, "type", Form::Object(TYPE)),
    (2, "raw", Form::Bytes),
    (3, "encoding", Form::Text),
    (4, "contentType", Form::Text),
];
