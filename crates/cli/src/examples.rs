//! Examples below each command's help. A command without one fails a test; so does an example that does not parse.

use clap::Command;

/// A command's path, and lines to learn it by.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "kcp up                                         everything on this machine",
            "kcp tour                                       a guided walk",
            "kcp provision --plan aws --name dev --watch    order a runtime",
            "kcp operations                                 what happens",
            "kcp deprovision dev --watch                    remove it",
        ],
    ),
    ("up", &["kcp up", "kcp up --speed max --port 9000", "kcp --data /srv/kcp up"]),
    ("tour", &["kcp tour", "kcp tour --yes    without pauses and without the restart"]),
    ("token", &["curl -H \"Authorization: Bearer $(kcp token)\" http://127.0.0.1:8080/operations"]),
    ("status", &["kcp status", "kcp status -o name    operations that are stuck"]),
    ("status steps", &["kcp status steps", "kcp status steps --failing --hours 24"]),
    ("status success", &["kcp status success", "kcp status success --days 30"]),
    ("login", &["kcp login", "kcp login --device", "kcp login -u admin -p PASSWORD"]),
    ("logout", &["kcp logout"]),
    ("context", &["kcp context", "kcp context use dev"]),
    ("context list", &["kcp context list"]),
    (
        "context add",
        &["kcp context add dev --server https://kcp.example.com --issuer https://id.example.com"],
    ),
    ("context use", &["kcp context use dev"]),
    ("context remove", &["kcp context remove dev"]),
    ("broker", &["kcp broker --config config/broker.toml"]),
    ("provisioner", &["kcp provisioner --config config/provisioner.toml"]),
    ("landscape", &["kcp landscape systems", "kcp landscape trouble make avs down --seconds 60"]),
    ("landscape systems", &["kcp landscape systems", "kcp landscape systems -o name"]),
    (
        "landscape objects",
        &["kcp landscape objects issuer", "kcp landscape objects issuer client kcp"],
    ),
    ("landscape trouble", &["kcp landscape trouble", "kcp landscape trouble end"]),
    ("landscape trouble list", &["kcp landscape trouble list -o wide"]),
    (
        "landscape trouble make",
        &[
            "kcp landscape trouble make gardener down --seconds 60",
            "kcp landscape trouble make avs status --calls 3 --with status=502",
            "kcp landscape trouble make edp slow --seconds 60 --with delay_ms=5000",
        ],
    ),
    ("landscape trouble end", &["kcp landscape trouble end 1", "kcp landscape trouble end"]),
    (
        "landscape ledger",
        &["kcp landscape ledger --tail 20", "kcp landscape ledger --tail 1 --watch --system avs"],
    ),
    ("landscape speed", &["kcp landscape speed", "kcp landscape speed 10"]),
    ("landscape order", &["kcp landscape order issuer rotate-keys"]),
    ("landscape crds", &["kcp landscape crds > definitions.yaml"]),
    ("landscape reset", &["kcp landscape reset avs", "kcp landscape reset --yes"]),
    (
        "provision",
        &[
            "kcp provision --plan aws --name dev --watch",
            "kcp provision --plan azure --name big --region westeurope --param autoScalerMax=9",
            "kcp provision --plan aws --name dev --dry-run",
        ],
    ),
    ("update", &["kcp update dev --param autoScalerMax=9 --watch", "kcp update dev --plan azure"]),
    ("suspend", &["kcp suspend dev --watch"]),
    ("resume", &["kcp resume dev --watch"]),
    ("deprovision", &["kcp deprovision dev --watch", "kcp deprovision --shoot c-308c6c3 --yes"]),
    (
        "runtimes",
        &[
            "kcp runtimes",
            "kcp runtimes -S failed,error -o wide",
            "kcp runtimes -S failed,error --events=error",
            "kcp runtimes -p aws -o custom=NAME:parameters.name,SHOOT:{.shootName}",
        ],
    ),
    (
        "kubeconfig",
        &[
            "kcp kubeconfig dev",
            "kcp kubeconfig dev -o dev.yaml    for a file of its own",
            "kcp kubeconfig -c c-308c6c3    an operator's",
        ],
    ),
    ("bind", &["kcp bind dev -o dev.yaml && kubectl --kubeconfig dev.yaml get namespaces"]),
    ("unbind", &["kcp unbind dev 0b9f6c52-2a3f-4d8e-9c1b-5f6a7d8e9f00"]),
    ("bindings", &["kcp bindings dev"]),
    ("leftovers", &["kcp leftovers", "kcp leftovers -o json"]),
    ("leftovers settle", &["kcp leftovers settle 0b9f6c52-2a3f-4d8e-9c1b-5f6a7d8e9f00"]),
    ("job", &["kcp job list", "kcp job expiry --dry-run --watch", "kcp job drift --yes --watch"]),
    (
        "operations",
        &["kcp operations", "kcp operations dev    the newest one of a runtime, with its journal"],
    ),
    ("operations list", &["kcp operations list --state failed", "kcp operations list -o wide"]),
    ("operations show", &["kcp operations show dev --watch"]),
    ("operations cancel", &["kcp operations cancel dev --reason \"not wanted\""]),
    ("operations retry", &["kcp operations retry dev --reason \"EDP is back\" --watch"]),
    (
        "operations skip",
        &["kcp operations skip dev --step De-provision_AVS_Evaluations --reason \"AvS is gone\""],
    ),
    ("operations abandon", &["kcp operations abandon dev --reason \"it hangs\""]),
    ("events", &["kcp events dev", "kcp events verify"]),
    ("events verify", &["kcp events verify", "kcp events verify --provisioner"]),
    (
        "orchestrations",
        &["kcp orchestrations", "kcp orchestrations 5b954fa8-fc34-4164-96e9-49e3b6741278 ops"],
    ),
    ("upgrade", &["kcp upgrade kyma --target all --preview"]),
    ("upgrade kyma", &["kcp upgrade kyma --target plan=trial --version 2.10.0 --watch"]),
    (
        "taskrun",
        &[
            "kcp taskrun -t all -- kubectl get nodes",
            "kcp taskrun -t plan=trial -e region=^us -s \"/bin/sh -c\" -- kubectl get ns \"| wc -l\"",
            "kcp taskrun -t account=CA.* --dry-run",
        ],
    ),
    ("reconciliations", &["kcp reconciliations", "kcp reconciliations -S error --last 5 -o wide"]),
    ("reconciliations enable", &["kcp reconciliations enable -c c-308c6c3 --force"]),
    ("reconciliations disable", &["kcp reconciliations disable -c c-308c6c3"]),
    ("reconciliations info", &["kcp reconciliations info -i 0b9f6c52-2a3f-4d8e-9c1b-5f6a7d8e9f00"]),
    ("reconciliations state", &["kcp reconciliations state -c c-308c6c3"]),
    (
        "reconciliations debug",
        &["kcp reconciliations debug -s 0b9f6c52-2a3f-4d8e-9c1b-5f6a7d8e9f00"],
    ),
    (
        "reconciliations purge",
        &["kcp reconciliations purge -r 0b9f6c52-2a3f-4d8e-9c1b-5f6a7d8e9f00"],
    ),
    ("reconciliations operation", &["kcp reconciliations operation stop -s ROUND -c OPERATION"]),
    (
        "reconciliations operation stop",
        &["kcp reconciliations operation stop -s ROUND -c OPERATION"],
    ),
    (
        "reconciliations operation debug",
        &["kcp reconciliations operation debug -s ROUND -c OPERATION"],
    ),
    ("upgrade cluster", &["kcp upgrade cluster --target all --canary 2 --maintenancewindow"]),
    ("steps", &["kcp steps list", "kcp steps show provisioning"]),
    ("steps list", &["kcp steps list"]),
    ("steps show", &["kcp steps show provisioning -o markdown"]),
    ("catalog", &["kcp catalog"]),
    ("check", &["kcp check", "kcp check --config config/broker.toml", "kcp check --config config"]),
    ("keys", &["kcp keys new kcp-broker.key"]),
    ("keys new", &["kcp keys new kcp-broker.key"]),
    ("keys add", &["kcp keys add kcp-broker.key"]),
    ("keys rotate", &["kcp keys rotate --config config/broker.toml"]),
    ("import", &["kcp import keb --database postgres://keb@db/broker"]),
    ("import keb", &["kcp import keb --database postgres://keb@db/broker --apply"]),
    ("import provisioner", &["kcp import provisioner --database postgres://kp@db/provisioner"]),
    ("bench", &["kcp bench engine"]),
    ("bench engine", &["kcp bench engine"]),
    ("bench runtimes", &["kcp bench runtimes"]),
    ("bench orders", &["kcp bench orders"]),
    ("bench mixed", &["kcp bench mixed"]),
    ("bench overhead", &["kcp bench overhead"]),
    ("bench reads", &["kcp bench reads --instances 1000"]),
    ("bench fleet", &["kcp bench fleet --runtimes 50 --waiting 0", "kcp bench fleet --runtimes 0"]),
    ("bench jobs", &["kcp bench jobs --instances 1000"]),
    (
        "completion",
        &[
            "source <(kcp completion bash)",
            "kcp completion fish > ~/.config/fish/completions/kcp.fish",
        ],
    ),
    ("man", &["kcp man /usr/local/share/man/man1"]),
    ("reference", &["kcp reference > docs/cli-reference.md"]),
];

/// The command and everything below it, with examples.
pub(crate) fn added_to(command: Command) -> Command {
    below(command, "")
}

fn below(mut command: Command, path: &str) -> Command {
    if let Some((_, lines)) = EXAMPLES.iter().find(|(known, _)| *known == path) {
        let title = if lines.len() == 1 { "Example" } else { "Examples" };
        command = command.after_help(format!("{title}:\n  {}", lines.join("\n  ")));
    }
    let names: Vec<String> =
        command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    for name in names {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command = command.mut_subcommand(name, |command| below(command, &path));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(command: &Command, path: &str, seen: &mut impl FnMut(&Command, &str)) {
        seen(command, path);
        for sub in
            command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
        {
            let below = format!("{path} {}", sub.get_name());
            walk(sub, &below, seen);
        }
    }

    #[test]
    fn every_command_has_an_example() {
        let mut without = Vec::new();

        walk(&crate::command(), "kcp", &mut |command, path| {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            if !help.contains("Example") {
                without.push(path.to_owned());
            }
        });

        assert_eq!(without, Vec::<String>::new(), "add them to src/examples.rs");
    }

    #[test]
    fn every_example_is_a_command_that_can_be_given() {
        let known = |path: &str| {
            let words = path.split_whitespace();
            let mut at = crate::command();
            words.into_iter().all(|word| match at.find_subcommand(word).cloned() {
                Some(below) => {
                    at = below;
                    true
                }
                None => false,
            })
        };
        for (path, lines) in EXAMPLES.iter().filter(|(path, _)| known(path)) {
            for line in lines.iter().filter(|line| line.starts_with("kcp ")) {
                let line = line.split("    ").next().unwrap_or(line);
                let line = line.split(" && ").next().unwrap_or(line);
                let line = line.split(" > ").next().unwrap_or(line);
                let mut words: Vec<String> = Vec::new();
                for (number, part) in line.split('"').enumerate() {
                    if number % 2 == 1 {
                        words.push(part.to_owned());
                    } else {
                        words.extend(part.split_whitespace().map(str::to_owned));
                    }
                }
                assert!(line.starts_with(format!("kcp {path}").trim()) || line.contains("--data"));
                let read = crate::command().try_get_matches_from(&words);
                assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
            }
        }
    }
}
