//! A file of records that is only ever added to.
//!
//! One record is one line: its length, a checksum, its text. What a reader would get wrong: a record
//! is handed to the system, not forced to the disk. It survives a killed process, not a power cut.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use aws_lc_rs::digest::{SHA256, digest};

use super::Error;

/// Length and checksum, each with a space behind it.
const HEAD: usize = 8 + 1 + 16 + 1;

#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    bytes: u64,
    records: u64,
    /// Plays a disk without room.
    #[cfg(test)]
    pub(crate) full: bool,
}

impl Log {
    /// Opens the log, or makes it, and shows `each` record with the place where it begins. A last
    /// record that was not written to its end is dropped; its answer never left.
    pub(crate) fn open(
        path: &Path,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut log = Self::new(path, file, 0, 0);
        let mut reader = Reader::open(path, 0)?;
        while let Some(line) = reader.line()? {
            let end = log.bytes + line.len() as u64;
            match text(line) {
                Some(text) => each(log.bytes, text)?,
                None if end == length => break,
                None => return Err(Error::Corrupt { path: path.to_owned(), at: log.bytes }),
            }
            log.bytes = end;
            log.records += 1;
        }
        log.file.set_len(log.bytes).map_err(failed)?;
        Ok(log)
    }

    /// Makes a log with this first record; the file appears whole or not at all.
    pub(crate) fn begin(path: &Path, text: &[u8]) -> Result<Self, Error> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let file = whole(path, text).map_err(failed)?;
        Ok(Self::new(path, file, length(text), 1))
    }

    fn new(path: &Path, file: File, bytes: u64, records: u64) -> Self {
        Self {
            path: path.to_owned(),
            file,
            bytes,
            records,
            #[cfg(test)]
            full: false,
        }
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        if self.full {
            self.file.write_all(&line[..line.len() / 2])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write_all(line)
    }

    /// Adds a record; comes back with the place where it begins.
    pub(crate) fn append(&mut self, text: &[u8]) -> Result<u64, Error> {
        let line = line(text);
        if let Err(source) = self.write(&line) {
            // Half a record in the middle would make the whole file unreadable.
            let _ = self.file.set_len(self.bytes);
            return Err(Error::File { path: self.path.clone(), source });
        }
        let at = self.bytes;
        self.bytes += line.len() as u64;
        self.records += 1;
        Ok(at)
    }

    /// Puts one record in the place of all; the new file appears whole or not at all.
    pub(crate) fn replace(&mut self, text: &[u8]) -> Result<(), Error> {
        let file = whole(&self.path, text)
            .map_err(|source| Error::File { path: self.path.clone(), source })?;
        (self.file, self.bytes, self.records) = (file, length(text), 1);
        Ok(())
    }

    /// How many records it holds.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Writes a file of one record and opens it to be added to.
fn whole(path: &Path, text: &[u8]) -> io::Result<File> {
    let unfinished = path.with_extension("new");
    let written = || -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(true).mode(0o600);
        options.open(&unfinished)?.write_all(&line(text))?;
        fs::rename(&unfinished, path)?;
        OpenOptions::new().append(true).open(path)
    };
    written().inspect_err(|_| {
        // The disk may be full, and the rest needs the room.
        let _ = fs::remove_file(&unfinished);
    })
}

fn length(text: &[u8]) -> u64 {
    (HEAD + text.len() + 1) as u64
}

/// Reads records from a place on.
pub(crate) struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    line: Vec<u8>,
}

impl Reader {
    /// Opens the file at a place where a record begins.
    pub(crate) fn open(path: &Path, at: u64) -> Result<Self, Error> {
        let opened = || -> std::io::Result<File> {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(at))?;
            Ok(file)
        };
        let file = opened().map_err(|source| Error::File { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file: BufReader::new(file), line: Vec::new() })
    }

    /// The next record; `None` at the end, and at a record that is being written.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        Ok(self.line()?.and_then(text))
    }

    /// The next record, and how many bytes it takes.
    pub(crate) fn next_with_length(&mut self) -> Result<Option<(&[u8], u64)>, Error> {
        let line = self.line()?;
        Ok(line.and_then(|line| Some((text(line)?, line.len() as u64))))
    }

    fn line(&mut self) -> Result<Option<&[u8]>, Error> {
        self.line.clear();
        match self.file.read_until(b'\n', &mut self.line) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(&self.line)),
            Err(source) => Err(Error::File { path: self.path.clone(), source }),
        }
    }
}

fn line(text: &[u8]) -> Vec<u8> {
    let mut line = format!("{:08x} {} ", text.len(), checksum(text)).into_bytes();
    line.extend_from_slice(text);
    line.push(b'\n');
    line
}

fn text(line: &[u8]) -> Option<&[u8]> {
    let (head, text) = line.strip_suffix(b"\n")?.split_at_checked(HEAD)?;
    let head = std::str::from_utf8(head).ok()?;
    let (length, sum) = head.trim_end().split_once(' ')?;
    let whole = usize::from_str_radix(length, 16) == Ok(text.len()) && sum == checksum(text);
    whole.then_some(text)
}

fn checksum(text: &[u8]) -> String {
    let digest = digest(&SHA256, text);
    let mut first = [0; 8];
    first.copy_from_slice(&digest.as_ref()[..8]);
    format!("{:016x}", u64::from_be_bytes(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        Log::open(path, |_, text| {
            found.push(String::from_utf8_lossy(text).into_owned());
            Ok(())
        })?;
        Ok(found)
    }

    fn written(path: &Path, records: &[&str]) {
        let mut log = Log::open(path, |_, _| Ok(())).unwrap();
        for record in records {
            log.append(record.as_bytes()).unwrap();
        }
    }

    #[test]
    fn a_log_cut_at_any_byte_opens_with_every_whole_record_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        written(&path, &["\"one\"", "\"two\"", "\"three\""]);
        let whole = fs::read(&path).unwrap();
        let first = HEAD + 5 + 1;

        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let kept = cut / first;

            assert_eq!(read(&path).unwrap().len(), kept.min(2), "cut at {cut}");
            written(&path, &["\"more\""]);
            assert_eq!(read(&path).unwrap().last().unwrap(), "\"more\"");
        }
    }

    #[test]
    fn a_record_damaged_in_the_middle_is_an_error_and_not_a_tail() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        written(&path, &["\"one\"", "\"two\""]);
        let mut bytes = fs::read(&path).unwrap();
        bytes[HEAD + 1] = b'X';
        fs::write(&path, bytes).unwrap();

        assert!(matches!(read(&path), Err(Error::Corrupt { at: 0, .. })));
    }
}
