//! The files that pages load, built in, each under a name that changes with its content.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::LazyLock,
};

use axum::{
    http::{
        HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    },
    response::{IntoResponse, Response},
};

use crate::path::Path;

pub(crate) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("style", "css", "text/css", include_str!("assets/style.css")));
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("console", "js", "text/javascript", include_str!("assets/console.js"))
});
pub(crate) static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", include_str!("assets/icon.svg")));

/// A file that pages load.
pub(crate) struct Asset {
    name: String,
    media: &'static str,
    text: &'static str,
}

impl Asset {
    fn new(name: &str, ending: &str, media: &'static str, text: &'static str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self { name: format!("{name}-{:016x}.{ending}", hasher.finish()), media, text }
    }

    /// Where it is.
    pub(crate) fn address(&self) -> String {
        format!("/console/assets/{}", self.name)
    }
}

pub(crate) async fn serve(Path(name): Path<String>) -> Response {
    let all = [&STYLE, &SCRIPT, &ICON];
    let Some(asset) = all.into_iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(asset.media)),
        // Other content has another name.
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, asset.text).into_response()
}
