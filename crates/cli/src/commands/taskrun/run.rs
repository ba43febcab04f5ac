//! The runs of a task: so many at a time, all of them tried, their output line by line.

use std::{
    env,
    io::Write as _,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::Arc,
};

use anyhow::{Context as _, bail};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::Command,
    sync::Semaphore,
    task::JoinSet,
};

use super::kubeconfigs::Kubeconfigs;
use crate::{output, view::Runtime};

/// What is run for each runtime.
pub(super) struct Task {
    pub(super) words: Vec<String>,
    pub(super) kubeconfigs: Option<Kubeconfigs>,
    pub(super) prefixed: bool,
}

/// The program and its arguments; a shell gets the command as one text.
pub(super) fn words(shell: Option<&str>, command: &[String]) -> Vec<String> {
    let Some(shell) = shell.filter(|shell| !shell.trim().is_empty()) else {
        return command.to_vec();
    };
    let mut words: Vec<String> = shell.split_whitespace().map(str::to_owned).collect();
    words.push(command.join(" "));
    words
}

/// Refuses a program that is not there, before anything is begun.
pub(super) fn check(words: &[String]) -> anyhow::Result<()> {
    let program = words.first().context("command missing: kcp taskrun -t all -- COMMAND")?;
    let found = if program.contains('/') {
        Path::new(program).is_file()
    } else {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    if !found {
        bail!("{program}: not found in the PATH");
    }
    Ok(())
}

/// Runs it for all of them; tells how many runs failed.
pub(super) async fn for_all(
    task: Arc<Task>,
    runtimes: Vec<Runtime>,
    parallelism: usize,
) -> anyhow::Result<usize> {
    let turns = Arc::new(Semaphore::new(parallelism));
    let mut runs = JoinSet::new();
    for runtime in runtimes {
        let (task, turns) = (task.clone(), turns.clone());
        runs.spawn(async move {
            let _turn = turns.acquire().await;
            let problem = match task.run(&runtime).await {
                Ok(status) if status.success() => return true,
                // What the command had to say, it has said.
                Ok(_) => return false,
                Err(error) => output::harmless(&format!("{error:#}"), ""),
            };
            eprintln!("{}: {problem}", output::harmless(&runtime.shoot_name, ""));
            false
        });
    }
    let mut failed = 0;
    while let Some(ended) = runs.join_next().await {
        failed += usize::from(!ended?);
    }
    Ok(failed)
}

impl Task {
    async fn run(&self, runtime: &Runtime) -> anyhow::Result<ExitStatus> {
        let kubeconfig = match &self.kubeconfigs {
            Some(kubeconfigs) => Some(kubeconfigs.file(runtime).await?),
            None => None,
        };
        let (program, arguments) = self.words.split_first().context("no command is given")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs([
            ("GLOBALACCOUNT_ID", &runtime.global_account_id),
            ("SUBACCOUNT_ID", &runtime.sub_account_id),
            ("RUNTIME_NAME", &runtime.shoot_name),
            ("RUNTIME_ID", &runtime.id),
            ("INSTANCE_ID", &runtime.instance_id),
        ]);
        match &kubeconfig {
            Some(kubeconfig) => command.env("KUBECONFIG", &kubeconfig.path),
            // The cluster that the operator looks at otherwise is not meant.
            None => command.env_remove("KUBECONFIG"),
        };
        let mut child = command.spawn().with_context(|| format!("{program} cannot be run"))?;
        let prefix = if self.prefixed { format!("{} ", runtime.shoot_name) } else { String::new() };
        let (out, err) = (child.stdout.take(), child.stderr.take());
        tokio::try_join!(
            copy(out, &prefix, |line| std::io::stdout().lock().write_all(line)),
            copy(err, &prefix, |line| std::io::stderr().lock().write_all(line)),
        )?;
        Ok(child.wait().await?)
    }
}

/// Writes what comes, line by line, each with its prefix.
async fn copy(
    from: Option<impl AsyncRead + Unpin>,
    prefix: &str,
    write: impl Fn(&[u8]) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let Some(from) = from else { return Ok(()) };
    let mut lines = BufReader::new(from);
    loop {
        let mut line = prefix.as_bytes().to_vec();
        if lines.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        write(&line)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_shell_gets_the_command_as_one_text() {
        let command = texts(&["echo", "$RUNTIME_NAME"]);

        assert_eq!(words(None, &command), command);
        let shell = words(Some("/bin/sh -c"), &command);
        assert_eq!(shell, texts(&["/bin/sh", "-c", "echo $RUNTIME_NAME"]));
    }

    #[test]
    fn a_program_that_is_not_there_is_refused_before_anything_runs() {
        assert!(check(&texts(&["sh"])).is_ok() && check(&texts(&["/bin/sh"])).is_ok());
        for missing in ["no-such-program-anywhere", "/bin/no-such-program", "/bin"] {
            assert!(check(&texts(&[missing])).is_err(), "{missing}");
        }
        assert!(check(&[]).is_err());
    }
}
