//! What `kcp up` says once it serves.

use std::path::Path;

use secrecy::ExposeSecret;

use super::{Connection, landscape::GARDEN_KUBECONFIG};

/// Prints the addresses, the token, and three things to try.
pub(super) fn print(connection: &Connection, folder: &Path) {
    println!("{}", text(connection, folder));
}

fn text(connection: &Connection, folder: &Path) -> String {
    let Connection { broker, provisioner, landscape, token, .. } = connection;
    let token = token.expose_secret();
    let shown = folder.display();
    let kcp = command(folder);
    let clusters = &connection.clusters;
    let kubeconfig = quoted(&folder.join(GARDEN_KUBECONFIG));
    format!(
        "\
kcp runs.

  broker       {broker}   (console at /)
  provisioner  {provisioner}
  landscape    {landscape}
  clusters     {clusters}/clusters/garden
  data         {shown}

  token, valid for a day:
  {token}

Three things to try:
  {kcp} provision --plan aws --name demo --watch
  open {broker}/ in a browser and see its operations
  kubectl --kubeconfig {kubeconfig} get shoots -A -w

Ctrl-C stops it; starting it again carries on."
    )
}

/// The client's command as it finds this control plane from the present folder.
fn command(folder: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.join(".kcp").canonicalize());
    if here.is_ok_and(|here| here == folder) {
        return "kcp".into();
    }
    format!("kcp --data {}", quoted(folder))
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
