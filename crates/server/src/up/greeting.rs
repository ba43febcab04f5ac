//! What `kcp up` says once it serves: where everything is, that none of it is real, and what to type next.
//!
//! What a reader would get wrong: it is read on terminals of 80 columns and kept in log files, so no line is longer and no
//! token is in it. `kcp token` prints one.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use super::{Connection, Speed, landscape::GARDEN_KUBECONFIG};

/// What the greeting tells of.
pub(super) struct Greeting<'a> {
    pub(super) connection: &'a Connection,
    pub(super) folder: &'a Path,
    pub(super) speed: Speed,
    /// How many operations an earlier process had not finished.
    pub(super) unfinished: u64,
}

/// Prints the greeting.
pub(super) fn print(greeting: &Greeting<'_>) {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    println!("{}", greeting.text(here.as_deref()));
}

impl Greeting<'_> {
    fn text(&self, here: Option<&Path>) -> String {
        let Connection { broker, provisioner, landscape, clusters, .. } = self.connection;
        let kcp = self.command(here);
        let kubeconfig = quoted(&shortened(&self.folder.join(GARDEN_KUBECONFIG), here));
        let data = shortened(self.folder, here);
        let data = data.display();
        let speed = pace(self.speed);
        let mut text = format!(
            "\
kcp runs: a simulated world, in development mode. No real cluster is touched.

  console      {broker}/
  broker API   {broker}/oauth/v2
  provisioner  {provisioner}/graphql
  landscape    {landscape}/landscape
  clusters     {clusters}/clusters/garden
  data         {data}   (delete it to start over)
  speed        {speed}
"
        );
        if self.unfinished > 0 {
            let operations = if self.unfinished == 1 { "operation" } else { "operations" };
            let _ = write!(
                text,
                "\nCarrying on with {} {operations}: {kcp} operations\n",
                self.unfinished
            );
        }
        let _ = write!(
            text,
            "
In another terminal:
  {kcp} tour                                       a guided walk
  {kcp} provision --plan aws --name demo --watch   order a runtime
  {kcp} bind demo -o demo.yaml && kubectl --kubeconfig demo.yaml get namespaces
  kubectl --kubeconfig {kubeconfig} get shoots -A -w

{kcp} token prints a token for curl. Ctrl-C stops it; the next start carries on."
        );
        text
    }

    /// The client's command as it finds this control plane from the present folder.
    fn command(&self, here: Option<&Path>) -> String {
        let default = here.and_then(|here| here.join(".kcp").canonicalize().ok());
        if default.is_some_and(|default| default == self.folder) {
            return "kcp".into();
        }
        format!("kcp --data {}", quoted(&shortened(self.folder, here)))
    }
}

/// How fast the world is, and how to make it faster.
fn pace(speed: Speed) -> String {
    match speed {
        Speed::Max => "max: nothing takes time (--speed 1 is watchable)".into(),
        Speed::Times(factor) if (factor - 1.0).abs() < f64::EPSILON => {
            "1: an order takes about 20 seconds (--speed 10, --speed max)".into()
        }
        Speed::Times(factor) => format!("{factor} times the watchable one (--speed 1)"),
    }
}

/// A path as seen from the present folder.
fn shortened(path: &Path, here: Option<&Path>) -> PathBuf {
    let inside = here.and_then(|here| path.strip_prefix(here).ok());
    inside.filter(|inside| !inside.as_os_str().is_empty()).unwrap_or(path).to_owned()
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    fn greeting(folder: &Path, unfinished: u64) -> String {
        let connection = Connection {
            broker: "http://127.0.0.1:8080".into(),
            provisioner: "http://127.0.0.1:8081".into(),
            landscape: "http://127.0.0.1:8082".into(),
            clusters: "https://127.0.0.1:8083".into(),
            token: SecretString::from("hush-token"),
            user: "admin".into(),
            password: SecretString::from("hush-password"),
        };
        let speed = Speed::Times(1.0);
        let greeting = Greeting { connection: &connection, folder, speed, unfinished };
        greeting.text(folder.parent())
    }

    #[test]
    fn the_greeting_has_addresses_and_next_commands_and_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().canonicalize().unwrap().join(".kcp");
        std::fs::create_dir(&data).unwrap();

        let text = greeting(&data, 0);

        for part in ["simulated world", "development mode", "--speed", "8080/\n", "8081/graphql"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(text.contains("  kcp tour ") && text.contains("kcp token"), "{text}");
        assert!(!text.contains("hush") && !text.contains("Carrying on"), "{text}");
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert_eq!(long, Vec::<&str>::new());
    }

    #[test]
    fn the_greeting_tells_what_is_carried_on_with_and_where_the_data_is() {
        let text = greeting(Path::new("/srv/some data"), 3);

        assert!(text.contains("Carrying on with 3 operations: kcp --data 'some data'"), "{text}");
        assert!(greeting(Path::new("/srv/data"), 1).contains("Carrying on with 1 operation: "));
    }
}
