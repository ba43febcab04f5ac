//! As much of XML as EC2 answers with: elements in elements, and texts. Attributes are left out.

/// An element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Element {
    name: String,
    text: String,
    children: Vec<Element>,
}

/// How deep elements may lie in each other.
const DEEPEST: usize = 32;

impl Element {
    /// The outermost element; `None` if the text is not one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut open = vec![Self::default()];
        let mut rest = text.trim();
        while let Some(start) = rest.find('<') {
            let (before, tag) = rest.split_at(start);
            open.last_mut()?.text.push_str(&unescaped(before));
            if let Some(after) = tag.strip_prefix("<!--") {
                rest = after.split_once("-->")?.1;
                continue;
            }
            let (inside, after) = tag[1..].split_once('>')?;
            rest = after;
            if inside.starts_with(['?', '!']) {
                continue;
            }
            if let Some(name) = inside.strip_prefix('/') {
                let closed = open.pop().filter(|element| element.name == name.trim())?;
                open.last_mut()?.children.push(closed);
                continue;
            }
            let whole = inside.strip_suffix('/');
            let name = whole.unwrap_or(inside).split_whitespace().next()?;
            let element = Self { name: name.into(), ..Self::default() };
            match whole {
                Some(_) => open.last_mut()?.children.push(element),
                None => open.push(element),
            }
            if open.len() > DEEPEST {
                return None;
            }
        }
        let root = open.pop().filter(|_| open.is_empty() && rest.trim().is_empty())?;
        root.children.into_iter().next()
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

    /// What lies in it.
    pub(super) fn children(&self) -> &[Self] {
        &self.children
    }
}

fn unescaped(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        done.push_str(before);
        let Some((name, tail)) = after.split_once(';').filter(|(name, _)| name.len() <= 8) else {
            done.push('&');
            rest = after;
            continue;
        };
        match named(name) {
            Some(c) => done.push(c),
            None => done.extend(["&", name, ";"]),
        }
        rest = tail;
    }
    done + rest
}

fn named(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
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
        for text in
            ["", "text", "<a>", "<a></b>", "<a><b></a></b>", "</a>", "<a", "{\"a\":1}", &deep]
        {
            assert_eq!(Element::parse(text), None, "{}", &text[..text.len().min(20)]);
        }
    }
}
