//! What the person chooses for agent applications.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::response::Response;
use home::Approval;
use serde::Deserialize;

use crate::console::state::{Console, go_to};

#[derive(Deserialize)]
pub(crate) struct ApprovalForm {
    approval: Approval,
}

pub(crate) async fn choose_approval(
    State(console): State<Arc<Console>>,
    Form(sent): Form<ApprovalForm>,
) -> Response {
    console.program.choose_approval(sent.approval);
    go_to("/")
}
