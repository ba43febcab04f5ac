//! As much of XML as EC2 answers with: elements in elements, and texts. Attributes are left out.

use roxmltree::{Document, Node};

/// An element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Element {
    name: String,
    text: String,
    children: Vec<Element>,
}

/// How deep elements may lie in each other.
const DEEPEST: usize = 32;
/// How many nodes an answer may have.
const MOST: u32 = 1_000_000;

impl Element {
    /// The outermost element; `None` if the text is not one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let options =
            roxmltree::ParsingOptions { nodes_limit: MOST, ..roxmltree::ParsingOptions::default() };
        let document = Document::parse_with_options(text.trim(), options).ok()?;
        Self::read(document.root_element(), DEEPEST)
    }

    fn read(node: Node<'_, '_>, deepest: usize) -> Option<Self> {
        let deepest = deepest.checked_sub(1)?;
        let inner = node.children().filter(Node::is_element);
        Some(Self {
            name: node.tag_name().name().to_owned(),
            text: node.children().filter(Node::is_text).filter_map(|text| text.text()).collect(),
            children: inner.map(|child| Self::read(child, deepest)).collect::<Option<_>>()?,
        })
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The first element on a path of names below it.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |element, name| {
            element.children.iter().find(|child| child.name == *name)
        })
    }

    /// The text on a path of names below it; `None` if it is empty.
    pub(super) fn text(&self, path: &[&str]) -> Option<&str> {
        self.at(path).map(|element| element.text.as_str()).filter(|text| !text.is_empty())
    }

    /// Its children.
    pub(super) fn children(&self) -> &[Self] {
        &self.children
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_texts_and_items_are_found() {
        let text = "<?xml version=\"1.0\"?>\n<R xmlns=\"u\"><!-- > --><set><item><id>a&amp;b&#x21;</id></item>\
                    <item/></set><next/></R>";

        let root = Element::parse(text).unwrap();

        assert_eq!(root.name(), "R");
        let items = root.at(&["set"]).unwrap().children();
        assert_eq!((items.len(), items[0].text(&["id"])), (2, Some("a&b!")));
        assert_eq!((root.text(&["next"]), root.text(&["absent"])), (None, None));
    }

    #[test]
    fn what_is_not_well_formed_is_nothing() {
        let deep = "<a>".repeat(100_000);
        let closed = format!("{}{}", "<a>".repeat(40), "</a>".repeat(40));
        for text in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "<a><b></a></b>",
            "</a>",
            "<a",
            "{\"a\":1}",
            &deep,
            &closed,
        ] {
            assert_eq!(Element::parse(text), None, "{}", &text[..text.len().min(20)]);
        }
    }
}
