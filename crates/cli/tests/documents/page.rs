//! A page and its fenced blocks.

/// A page.
pub(crate) struct Page {
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The language after the fence.
    pub(crate) language: String,
    /// Its text.
    pub(crate) text: String,
    /// File and line, for people.
    pub(crate) place: String,
}

impl Page {
    pub(crate) fn read(path: &str) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut blocks: Vec<Block> = Vec::new();
        let mut open = false;
        for (number, line) in text.lines().enumerate() {
            if let Some(language) = line.trim_start().strip_prefix("```") {
                if !open {
                    let place = format!("{path}:{}", number + 1);
                    let language = language.trim().to_owned();
                    blocks.push(Block { language, text: String::new(), place });
                }
                open = !open;
            } else if open {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
        assert!(!open, "{path} ends inside of a block");
        Self { blocks }
    }

    /// Whether anything on it is to be run.
    pub(crate) fn has_examples(&self) -> bool {
        let run = ["sh", "graphql", "console"];
        self.blocks.iter().any(|block| run.contains(&block.language.as_str()))
    }
}
