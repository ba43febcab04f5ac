//! A Kubernetes API server in a crate; knows no Kyma.
