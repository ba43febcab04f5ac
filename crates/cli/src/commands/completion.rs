//! `kcp completion`, `kcp man` and `kcp reference`: what is printed from the tree of commands.

use std::{fmt::Write as _, fs, path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::output;

/// Commands whose first argument is a runtime, and their aliases.
const ABOUT_RUNTIMES: &str =
    "bind bindings deprovision d events kubeconfig kc operations op resume suspend unbind update";
/// The command that lists the names of runtimes. An export is one request, however many there are, and begins each row with the name.
const NAMES: &str =
    "runtimes -S all --export - --export-format csv 2>/dev/null | tail -n +2 | cut -d, -f1";
/// The names for fish, from the control plane that the line names before its command.
const FISH: &str = r#"
function __kcp_runtimes
    set -l words (commandline -opc)
    set -l flags
    set -l at 2
    while string match -q -- '--*' "$words[$at]"
        set -a flags $words[$at]
        if not string match -q -- '*=*' "$words[$at]"
            set at (math $at + 1)
            set -a flags $words[$at]
        end
        set at (math $at + 1)
    end
    kcp $flags NAMES
end
"#;
/// The same for zsh. Below a command, `words` begins with that command: the whole line is kept where completion begins.
const ZSH: &str = r#"_kcp_runtimes() {
    local -a flags
    local at=2
    while [[ ${kcp_line[at]} == --* ]]; do
        flags+=("${(Q)kcp_line[at]}")
        if [[ ${kcp_line[at]} != *=* ]]; then
            (( at += 1 ))
            flags+=("${(Q)kcp_line[at]}")
        fi
        (( at += 1 ))
    done
    compadd -- ${(f)"$(kcp "${flags[@]}" NAMES)"}
}
"#;
/// How wide help is where no terminal says it.
const WIDTH: usize = 100;

/// Print the completion script of a shell. It completes names of runtimes, too.
#[derive(Args)]
pub(crate) struct Completion {
    /// The shell.
    shell: Shell,
    /// Write the script to this file, as the known client does.
    #[arg(long = "o", hide = true, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Completion {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let script = script(self.shell)?;
        match &self.file {
            Some(file) => fs::write(file, script)
                .with_context(|| format!("{} cannot be written", file.display()))?,
            None => output::print_styled(&script)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn script(shell: Shell) -> anyhow::Result<String> {
    let mut script = Vec::new();
    generate(shell, &mut crate::command(), "kcp", &mut script);
    let mut script = String::from_utf8(script).context("the script is no text")?;
    match shell {
        Shell::Bash => {
            let words = ABOUT_RUNTIMES.replace(' ', "|");
            let _ = write!(
                script,
                "
_kcp_with_names() {{
    _kcp \"$@\"
    local word=\"${{COMP_WORDS[COMP_CWORD]}}\" at=1 which=()
    [[ $word == -* ]] && return
    # The control plane that the line names before its command is the one that is asked. A flag with `=` is three words.
    while [[ ${{COMP_WORDS[at]}} == --* ]]; do
        local value=$((at + 1))
        [[ ${{COMP_WORDS[value]}} == = ]] && value=$((at + 2))
        which+=(\"${{COMP_WORDS[at]}}\" \"${{COMP_WORDS[value]}}\")
        at=$((value + 1))
    done
    case \"${{COMP_WORDS[at]}}\" in
        {words}) COMPREPLY+=($(compgen -W \"$(kcp \"${{which[@]}}\" {NAMES} | grep -xE '[A-Za-z0-9.-]+')\" -- \"$word\")) ;;
    esac
}}
complete -F _kcp_with_names -o bashdefault -o default kcp
"
            );
        }
        Shell::Fish => {
            script.push_str(&FISH.replace("NAMES", NAMES));
            let _ = writeln!(
                script,
                "complete -c kcp -n '__fish_seen_subcommand_from {ABOUT_RUNTIMES}' -f -a '(__kcp_runtimes)'"
            );
        }
        Shell::Zsh => {
            let named = |line: &str| {
                let first = line.trim_start();
                first.starts_with("':which --") || first.starts_with("'::instance --")
            };
            let lines = script.lines().map(|line| match line.strip_suffix(":_default' \\") {
                Some(start) if named(line) => format!("{start}:_kcp_runtimes' \\\n"),
                _ => format!("{line}\n"),
            });
            let body: String = lines.collect();
            let helper = ZSH.replace("NAMES", NAMES);
            let begin = format!("\n{helper}\n_kcp() {{\n    local -a kcp_line=(\"${{words[@]}}\")");
            // What stands first is run when the script is loaded; the call of `_kcp` stands last.
            script = body.replacen("\n_kcp() {", &begin, 1);
        }
        _ => {}
    }
    Ok(script)
}

/// Write man pages, one per command.
#[derive(Args)]
pub(crate) struct Man {
    /// The folder for the pages.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let shown = self.folder.display();
        fs::create_dir_all(&self.folder).with_context(|| format!("{shown} cannot be created"))?;
        clap_mangen::generate_to(crate::command(), &self.folder)
            .with_context(|| format!("man pages cannot be written to {shown}"))?;
        output::print(&format!("man pages are in {shown}: man {shown}/kcp.1\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Print the help of every command as a page of the documentation.
#[derive(Args)]
pub(crate) struct Reference {}

impl Reference {
    pub(crate) fn run() -> anyhow::Result<ExitCode> {
        let mut page = "\
# Reference of the command line

Every command with its arguments and examples, printed by `kcp reference`. [cli.md](cli.md) shows them at work.
"
        .to_owned();
        let mut root = crate::command().term_width(WIDTH);
        root.build();
        add(&mut page, &mut root, "kcp");
        output::print(&page)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn add(page: &mut String, command: &mut Command, path: &str) {
    let help = command.clone().term_width(WIDTH).render_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## {path}\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    for below in command.get_subcommands_mut() {
        if below.get_name() != "help" && !below.is_hide_set() {
            let path = format!("{path} {}", below.get_name());
            add(page, below, &path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_ask_for_names_of_runtimes() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell).unwrap();
            assert!(script.contains(NAMES), "{shell}");
            assert!(script.contains("deprovision"), "{shell}");
        }
        assert!(script(Shell::Zsh).unwrap().matches("_kcp_runtimes").count() > 5);
    }

    #[test]
    fn scripts_ask_the_control_plane_that_the_line_names() {
        let zsh = script(Shell::Zsh).unwrap();
        assert!(zsh.contains("\n_kcp() {\n    local -a kcp_line=(\"${words[@]}\")\n"), "{zsh}");
        assert!(zsh.contains(&format!("$(kcp \"${{flags[@]}}\" {NAMES})")), "{zsh}");
        let fish = script(Shell::Fish).unwrap();
        assert!(fish.contains(&format!("    kcp $flags {NAMES}\nend\n")), "{fish}");
        assert!(fish.contains("-f -a '(__kcp_runtimes)'"), "{fish}");
    }

    #[test]
    fn a_script_is_written_to_the_file_that_the_known_client_names() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kcp_completion");

        Completion { shell: Shell::Bash, file: Some(file.clone()) }.run().unwrap();

        assert_eq!(fs::read_to_string(file).unwrap(), script(Shell::Bash).unwrap());
    }

    #[test]
    fn man_pages_are_written_for_every_command() {
        let folder = tempfile::tempdir().unwrap();

        Man { folder: folder.path().join("man1") }.run().unwrap();

        let page = fs::read_to_string(folder.path().join("man1/kcp-provision.1")).unwrap();
        assert!(page.contains("Example") && page.contains("Order a runtime"), "{page}");
    }
}
