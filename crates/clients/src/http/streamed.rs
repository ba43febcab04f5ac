//! Answers that are read piece by piece, however long they are: for exports.

use std::time::Duration;

use reqwest::{Method, Request, RequestBuilder, Response, StatusCode, header::AUTHORIZATION};

use super::{Http, limited};
use crate::{
    answer::{self, Raw},
    error::{Component, Error},
    oauth::Token,
};

/// How long such an answer may take until its end.
const LONGEST: Duration = Duration::from_hours(24);

/// An answer that is still on its way.
#[derive(Debug)]
pub struct Pieces {
    component: Component,
    doing: String,
    response: Response,
}

impl Pieces {
    /// The next piece; none at the end. An answer that is broken off is an error.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let piece = self.response.chunk().await.map_err(|error| {
            Error::transport(self.component, &self.doing, &Method::GET, error)
                .saying("the answer was broken off and is incomplete")
        })?;
        Ok(piece.map(|piece| piece.to_vec()))
    }
}

impl Http {
    /// Makes a call whose answer is read piece by piece. It takes nobody's turn and belongs to no step.
    pub async fn stream(&self, doing: &str, request: RequestBuilder) -> Result<Pieces, Error> {
        let request = self.built(doing, request.timeout(LONGEST))?;
        let again = request.try_clone().filter(|_| self.renewing);
        let (mut response, token) = self.streamed(doing, request).await?;
        if let (StatusCode::UNAUTHORIZED, Some(again), Some(token)) =
            (response.status(), again, token)
        {
            if let Some(source) = &self.token {
                source.withdraw(&token).await;
            }
            response = self.streamed(doing, again).await?.0;
        }
        if response.status().is_success() {
            return Ok(Pieces { component: self.component(), doing: doing.into(), response });
        }
        Err(self.refusal(doing, response).await)
    }

    async fn streamed(
        &self,
        doing: &str,
        mut request: Request,
    ) -> Result<(Response, Option<Token>), Error> {
        let token = match &self.token {
            Some(source) => Some(source.current().await?),
            None => None,
        };
        if let Some(token) = &token {
            request.headers_mut().insert(AUTHORIZATION, token.header.clone());
        }
        let response = self
            .client
            .execute(request)
            .await
            .map_err(|error| Error::transport(self.component(), doing, &Method::GET, error))?;
        Ok((response, token))
    }

    /// The failure that an answer is.
    async fn refusal(&self, doing: &str, response: Response) -> Error {
        let mut raw = Raw::head(response.status(), response.headers(), self.clock().now());
        match limited(response, self.gate.limits().body).await {
            Ok(body) => raw.body = body.unwrap_or_default(),
            Err(error) => return Error::transport(self.component(), doing, &Method::GET, error),
        }
        match raw.accepted(self.component(), doing) {
            Err(error) => error,
            Ok(_) => answer::too_large(self.component(), doing),
        }
    }
}
