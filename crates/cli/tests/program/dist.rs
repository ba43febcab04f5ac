//! What a release consists of: `scripts/dist` packs it. Instead of the executable, which is large, it packs a script that calls it.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

use crate::support::KCP;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/dist");

fn dist(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(SCRIPT);
    command.arg("--into").arg(folder.join("out")).args(more);
    command.arg("--authorities").arg(folder.join("authorities.crt"));
    // What this machine trusts besides is not shipped.
    command.env("SSL_CERT_FILE", folder.join("of-this-machine.crt")).output().unwrap()
}

/// What `tar` prints; it must succeed.
fn tar(words: &[&str], archive: &Path) -> String {
    let output = Command::new("tar").args(words).arg("-f").arg(archive).output().unwrap();
    assert!(
        output.status.success(),
        "{}: {}",
        archive.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with an executable to pack and the certificates that go into the image.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kcp");
    let mut file = fs::OpenOptions::new().create_new(true).write(true).mode(0o755).open(file);
    writeln!(file.as_mut().unwrap(), "#!/bin/sh\nexec {KCP} \"$@\"").unwrap();
    drop(file);
    fs::write(folder.path().join("authorities.crt"), "trusted\n").unwrap();
    fs::write(folder.path().join("of-this-machine.crt"), "of this machine\n").unwrap();
    folder
}

#[test]
fn a_release_has_the_executable_man_pages_completions_and_an_image() {
    let folder = prepared();
    let executable = folder.path().join("kcp").display().to_string();

    let packed = dist(folder.path(), &["--executable", &executable]);

    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let paths = String::from_utf8(packed.stdout).unwrap();
    let [archive, image] = paths.lines().map(Path::new).collect::<Vec<_>>()[..] else {
        panic!("{paths}")
    };
    let name = archive.file_name().unwrap().to_str().unwrap().trim_end_matches(".tar.gz");
    assert!(name.starts_with(&format!("kcp-{}-linux-", env!("CARGO_PKG_VERSION"))), "{name}");
    let files = tar(&["-t"], archive);
    for file in [
        "kcp",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "man/kcp.1",
        "man/kcp-operations-cancel.1",
        "completion/kcp.bash",
        "completion/kcp.zsh",
        "completion/kcp.fish",
    ] {
        assert!(files.lines().any(|line| line == format!("{name}/{file}")), "{file}: {files}");
    }
    let unpacked = folder.path().join("out").join(name);
    for shell in ["bash", "zsh", "fish"] {
        let script = fs::read_to_string(unpacked.join(format!("completion/kcp.{shell}"))).unwrap();
        assert!(script.contains("deprovision"), "{shell}");
    }

    // The image is what `docker load` reads: a list of images, each with a configuration and layers whose digests it names.
    let parts = folder.path().join("image");
    fs::create_dir(&parts).unwrap();
    tar(&["-x", "-C", parts.to_str().unwrap()], image);
    let json = |file: &str| -> Value {
        serde_json::from_slice(&fs::read(parts.join(file)).unwrap()).unwrap()
    };
    let manifest = json("manifest.json");
    assert_eq!(manifest[0]["RepoTags"][0], format!("kcp:{}", env!("CARGO_PKG_VERSION")));
    let config = json(manifest[0]["Config"].as_str().unwrap());
    assert_eq!(config["config"]["Entrypoint"][0], "/kcp");
    let layer = parts.join(manifest[0]["Layers"][0].as_str().unwrap());
    let digest = Command::new("sha256sum").arg(&layer).output().unwrap().stdout;
    let digest = String::from_utf8(digest).unwrap();
    let digest = format!("sha256:{}", digest.split(' ').next().unwrap());
    assert_eq!(config["rootfs"]["diff_ids"][0], digest);
    let files = tar(&["-tv", "--numeric-owner"], &layer);
    for (mode, owner, file) in [
        ("-rwxr-xr-x", "0/0", "kcp"),
        ("-rw-r--r--", "0/0", "etc/ssl/certs/ca-certificates.crt"),
        ("drwxrwxrwt", "0/0", "tmp/"),
        ("drwxr-xr-x", "65532/65532", "data/"),
    ] {
        let fits = |line: &str| {
            line.starts_with(&format!("{mode} {owner} ")) && line.ends_with(&format!(" {file}"))
        };
        assert!(files.lines().any(fits), "{mode} {owner} {file}: {files}");
    }
    let authorities = tar(&["-x", "-O", "etc/ssl/certs/ca-certificates.crt"], &layer);
    assert_eq!(authorities, "trusted\n");
}

#[test]
fn nothing_is_packed_without_an_executable() {
    let folder = prepared();

    let refused = dist(folder.path(), &["--executable", "/nonexistent/kcp"]);

    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success(), "{error}");
    assert_eq!(error, "scripts/dist: /nonexistent/kcp is not an executable\n");
    assert!(!folder.path().join("out").exists());
}
