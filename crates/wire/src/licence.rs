//! How the program gets the day's licence tokens: from the engine the proof, from the authority the token.

use serde::{Deserialize, Serialize};

/// The engine's answer to [`crate::Request::PROGRAM_LICENCE`]: where to get tokens, and what proves the claim.
#[derive(Clone, Serialize, Deserialize)]
pub struct LicenceProofs {
    /// Address of the licence authority, without the path.
    pub authority: String,
    /// Domain the licence is for.
    pub domain: String,
    /// The person's login.
    pub login: String,
    /// One proof for today and one for tomorrow, in UTC.
    pub proofs: Vec<DayProof>,
}

/// The proof for one day.
#[derive(Clone, Serialize, Deserialize)]
pub struct DayProof {
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    /// The proof, for [`TokenRequest::proof`].
    pub proof: String,
}

/// What the program posts to the authority as JSON, at [`TokenRequest::PATH`].
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    /// Domain of the store.
    pub domain: String,
    /// Login of the person.
    pub login: String,
    /// `YYYY-MM-DD`, UTC: today or tomorrow.
    pub day: String,
    /// The engine's proof for exactly these three.
    pub proof: String,
}

impl TokenRequest {
    /// Path below the authority's address.
    pub const PATH: &str = "token";
}

/// What the authority answers: HTTP 200 and a token, or another status and a reason.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct TokenAnswer {
    /// The token, to be written to the store folder's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
